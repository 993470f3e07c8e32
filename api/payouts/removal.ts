/** Removal of a payout account. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Person } from '#api/access.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { lockPayoutAccount } from '#db/payouts/credentials.ts';
import { endAgreements, withdrawOffers } from '#db/payouts/offer-transitions.ts';
import { expireOpenPayments, hasOpenSessions } from '#db/payouts/open-payments.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutOnboarding } from '#db/payouts/payout-onboarding.ts';
import type { Deps } from '#runtime/deps.ts';
import { loadPayoutAccount, requireSettledPayouts } from './rules.ts';

const closingMsMax = 10_000;
const stepMs = 200;

/**
 * Ends the account's agreements, offers and links, waits until open checkout sessions are closed, deletes its key, and
 * marks the row as `gone`. Closing needs the key, so it waits for a limited time; then the key is deleted anyway.
 * Idempotent. Throws `not_found`, `address_change_pending`. Captured money stays at the provider: the account's owner refunds it in the provider's dashboard.
 */
export async function removePayoutAccount(
  em: EntityManager,
  deps: Deps,
  person: Person,
  id: string,
  timeoutMs = closingMsMax,
): Promise<PayoutAccount> {
  const { status } = await loadPayoutAccount(em, person, id);
  if (status !== 'gone') {
    await requireSettledPayouts(em, deps, person);
    await closeAll(deps, id, timeoutMs);
  }
  const removed = await em.transactional(async (tx) => {
    const account = await lockPayoutAccount(tx, id);
    if (account.status === 'gone') return account;
    // Sessions created meanwhile.
    await endAll(tx, deps.clock, id);
    recordAct(tx, deps.clock, person, 'payout_account.removed', { subject: account });
    return tx.assign(account, { status: 'gone', goneAt: deps.clock.now(), sealedKey: null, waitingFor: [] });
  });
  await expireOpenPayments(em, deps.clock, { payoutAccount: id });
  return removed;
}

/** While this waits, a site may be attached and sessions created again; then it starts over within the same time. */
async function closeAll(deps: Deps, id: string, timeoutMs: number): Promise<void> {
  for (let leftMs = timeoutMs; leftMs > 0; leftMs -= stepMs) {
    const ended = await deps.em().transactional((tx) => endAll(tx, deps.clock, id));
    await expireOpenPayments(deps.em(), deps.clock, { payoutAccount: id });
    const left = await untilClosed(deps, id, leftMs);
    if (ended === 0 && left === leftMs) return;
    leftMs = left;
  }
}

/** Returns how many agreements ended. */
async function endAll(tx: EntityManager, clock: Deps['clock'], id: string): Promise<number> {
  await lockPayoutAccount(tx, id);
  const ended = await endAgreements(tx, { payoutAccount: id }, { by: 'payout_account', now: clock.now() });
  await withdrawOffers(tx, clock, { payoutAccount: id });
  await tx.nativeDelete(PayoutOnboarding, { payoutAccount: id });
  return ended;
}

/** Independent of the caller's wait: once the key is deleted, sessions can no longer be closed. Returns the remaining time. */
async function untilClosed(deps: Deps, id: string, mostMs: number): Promise<number> {
  let leftMs = mostMs;
  for (; leftMs > 0 && (await hasOpenSessions(deps.em(), id)); leftMs -= stepMs) {
    await pause(stepMs);
  }
  return leftMs;
}
