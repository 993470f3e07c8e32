/**
 * The ledger check: each charge belongs to a paid payment, is refunded, or is flagged; each paid booking has a seat or a refund. It first does
 * what lost workflows should have done, so every flag needs an operator.
 */

import { recordCharge, refundCaptured } from '#db/payments/charges.ts';
import {
  chargedSince,
  type Finding,
  findContradictions,
  findOverdue,
  flaggedCharges,
  recordFlags,
} from '#db/payments/ledger.ts';
import { findings } from '#db/payments/ledger-findings.ts';
import type { LedgerFlag } from '#db/payments/ledger-flag.ts';
import { recordForeignRefund } from '#db/payments/partial-refunds.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PaymentRefund } from '#db/payments/payment-refund.ts';
import { withPayment } from '#db/payments/transitions.ts';
import { credentialsOf } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { type Charge, PaymentsFault } from '#providers/payments.ts';
import { dayMs, minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { withHeartbeat } from './heartbeat.ts';
import { giveBackCharge } from './payments/refunds.ts';
import { requirePayments, settleAttempt } from './payments.ts';

/** The age up to which charges are compared. */
const comparedPeriodMs = 8 * dayMs;

export type LedgerResult = { charges: number; flagged: number };

export function ledgerActivities(deps: Deps) {
  return { checkLedger: (): Promise<LedgerResult> => withHeartbeat(() => checkLedger(deps)) };
}

export async function checkLedger(deps: Deps): Promise<LedgerResult> {
  await resumeAbandoned(deps);
  const since = new Date(deps.clock.now().getTime() - comparedPeriodMs);
  const ledger: Findings = { findings: [], checked: new Set() };
  for (const accountId of deps.payments ? await chargedSince(deps.em(), since) : []) {
    await compareAccount(deps, accountId, since, ledger);
  }
  const charges = ledger.checked.size;
  for (const flag of deps.payments ? await flaggedCharges(deps.em()) : []) await recheckFlagged(deps, flag, ledger);
  ledger.findings.push(...(await findContradictions(deps.em(), deps.clock.now())));
  const { news, open } = await recordFlags(deps.em(), deps.clock.now(), ledger);
  for (const { subject, why } of news)
    deps.log.error({ subject, why }, 'the ledger check found a discrepancy that it cannot repair');
  return { charges, flagged: open };
}

/** The findings, and the ids of all charges that were checked. */
type Findings = { findings: Finding[]; checked: Set<string> };

/** Does what lost or failed workflows should have done. */
async function resumeAbandoned(deps: Deps): Promise<void> {
  const { attempts, refunds } = await findOverdue(deps.em(), deps.clock.now());
  for (const id of attempts) await settleAttempt(deps, id);
  // The row contains the reason of a failure.
  for (const { id, part } of refunds) await giveBackCharge(deps, id, part ?? undefined).catch(() => {});
}

async function compareAccount(deps: Deps, id: string, since: Date, ledger: Findings): Promise<void> {
  const account = await deps.em().findOneOrFail(PayoutAccount, { id });
  await tolerateProviderFaults(deps, id, async () => {
    for await (const charge of requirePayments(deps).listCharges(credentialsOf(deps, account), since)) {
      await checkCharge(deps, account, charge, ledger);
    }
  });
}

/** Checks flagged charges that are too old for the list above. They stay flagged until they are in order. */
async function recheckFlagged(deps: Deps, { subject, payoutAccountId }: LedgerFlag, ledger: Findings): Promise<void> {
  if (ledger.checked.has(subject) || !payoutAccountId) return;
  const account = await deps.em().findOneOrFail(PayoutAccount, { id: payoutAccountId });
  await tolerateProviderFaults(deps, account.id, async () => {
    await checkCharge(
      deps,
      account,
      await requirePayments(deps).readCharge(credentialsOf(deps, account), subject),
      ledger,
    );
  });
}

async function tolerateProviderFaults(deps: Deps, payoutAccountId: string, check: () => Promise<void>): Promise<void> {
  try {
    await check();
  } catch (error) {
    // A removed or unavailable account is checked next time.
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    deps.log.warn({ err: error, payoutAccountId }, 'an account’s charges could not be compared with its payments');
  }
}

async function checkCharge(deps: Deps, account: PayoutAccount, charge: Charge, ledger: Findings) {
  const why = charge.isPaid ? await compareCharge(deps, account, charge) : undefined;
  ledger.checked.add(charge.id);
  if (why !== undefined) ledger.findings.push({ subject: charge.id, payoutAccountId: account.id, why });
}

/** Updates our rows to match the charge. Returns the finding for an operator, if any. */
async function compareCharge(
  deps: Deps,
  { id, providerAccount = null }: PayoutAccount,
  charge: Charge,
): Promise<string | undefined> {
  // A provider account may have two rows, for example if it was removed and added again.
  const same = providerAccount === null ? { id } : { providerAccount };
  const load = () => deps.em().findOne(PaymentAttempt, { id: charge.attempt ?? '', payment: { payoutAccount: same } });
  const known = await load();
  if (!known) return charge.isRefunded ? undefined : findings.foreign;
  const { payment, sessionId = null } = known;
  if (!known.charge) await recordCharge(deps.em(), deps, { id: known.id, payment, sessionId }, charge.id);
  const attempt = (await load()) ?? known;
  if (attempt.charge !== charge.id) return charge.isRefunded ? undefined : findings.another;
  if (charge.isRefunded && !attempt.refundReason) {
    // The owner refunded it in the provider's dashboard.
    await withPayment(deps.em(), payment.id, (locked) => refundCaptured(locked, deps.clock, 'asked'));
  }
  if (!charge.isRefunded && attempt.refundedAt) return findings.notGivenBack;
  return charge.isRefunded || attempt.refundReason ? undefined : await compareParts(deps, attempt, charge);
}

/** The refunded part of a captured charge: what the owner refunded in the provider's dashboard is recorded. */
async function compareParts(deps: Deps, { id, payment }: PaymentAttempt, charge: Charge): Promise<string | undefined> {
  const before = new Date(deps.clock.now().getTime() - minuteMs);
  // A newer part may have been refunded after the charge was read.
  const parts = await deps.em().find(PaymentRefund, { attempt: id, refundedAt: { $lt: before } });
  if (charge.refunded < parts.reduce((sum, { amount }) => sum + amount, 0)) return findings.notGivenBack;
  await recordForeignRefund(deps.em(), deps.clock, { id, payment }, charge.refunded);
  return undefined;
}
