/** For 72 hours after a change of address, the old address can undo it and is reserved. */
import { Account } from '#db/accounts/account.ts';
import { EmailChange } from '#db/accounts/email-change.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';

const undoable = (now: Date) => ({ status: 'confirmed', oldEmail: { $ne: null }, expiresAt: { $gt: now } }) as const;

/** Until when the account's last change of address can be undone; null if it cannot. */
async function undoableUntil(em: EntityManager, now: Date, accountId: string): Promise<Date | null> {
  const change = await em.findOne(EmailChange, { account: accountId, ...undoable(now) }, { disableIdentityMap: true });
  return change?.expiresAt ?? null;
}

/**
 * Whether the address belongs to an account, other than `accountId`, that may get it back, or to a deleted one, whose
 * address is free 90 days later. Call it under `lockAddress`.
 */
export async function isReserved(em: EntityManager, now: Date, email: string, accountId?: string): Promise<boolean> {
  const others = accountId === undefined ? {} : { account: { $ne: accountId } };
  if ((await em.count(Account, { email, purgedAt: { $ne: null } })) > 0) return true;
  return (await em.count(EmailChange, { ...undoable(now), oldEmail: email, ...others })) > 0;
}

/**
 * Guards what a thief of the account would do before its owner undoes the change. `what` completes the message, as in
 * "change its address again". Throws `address_change_pending`.
 */
export async function requireSettledAddress(
  em: EntityManager,
  clock: Clock,
  accountId: string,
  what: string,
): Promise<void> {
  const until = await undoableUntil(em, clock.now(), accountId);
  if (!until) return;
  throw errors.address_change_pending(
    `The account’s e-mail address changed recently, and the old address can undo that until ${until.toISOString()}. Before that, no one can ${what}.`,
    { nextAction: `Wait until ${until.toISOString()}, then send the same request again.` },
  );
}

/** The power `payouts`, for the message of `requireSettledAddress`. */
export const payoutsPower = 'give a token or an app the power over payouts';
