/** The move of an account to another address, confirmed by both addresses or made by an operator. */

import { LockMode } from '@mikro-orm/core';
import { readEmail } from '#api/email-addresses.ts';
import { Account } from '#db/accounts/account.ts';
import { EmailChange } from '#db/accounts/email-change.ts';
import { expireOpenRequests } from '#db/auth/access-request-expiry.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import { expireSigninLinks } from '#db/auth/signin-expiry.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import { lockAddress } from '#db/mail/limits.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isReserved } from './address-hold.ts';

/**
 * Changes an account's address for an operator. The former one cannot undo it, nor an earlier change. Throws
 * `invalid_email`, `not_found`, `email_taken`.
 */
export async function setAddress(em: EntityManager, deps: Pick<Deps, 'clock'>, accountId: string, email: string) {
  const address = readEmail(email);
  if ((await em.count(Account, { id: accountId })) === 0) throw errors.not_found('No account has this id.');
  return await em.transactional(async (tx) => {
    const moved = await moveAddress(tx, deps, accountId, address);
    if (!moved) throw taken();
    await tx.nativeUpdate(
      EmailChange,
      { account: accountId, status: { $in: ['pending', 'confirmed'] } },
      { status: 'ended' },
    );
    const act = { subject: { id: accountId, name: null }, detail: { from: moved.old, to: address } };
    recordAct(tx, deps.clock, platformFor(accountId), 'account.address_changed', act);
    return moved;
  });
}

/**
 * Changes the account's address in the caller's transaction, which then holds the account's lock. Links that were sent
 * to the old address expire, and browsers must sign in again. Null if another account has the address.
 */
export async function moveAddress(
  tx: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  accountId: string,
  email: string,
): Promise<{ account: Account; old: string } | null> {
  const { email: old } = await tx.findOneOrFail(Account, { id: accountId }, { disableIdentityMap: true });
  // Before the addresses and the account are locked: answering a request and using a link lock these rows first.
  await expireOpenRequests(tx, clock, old);
  await expireSigninLinks(tx, clock.now(), old);
  for (const address of [old, email].sort()) await lockAddress(tx, address);
  const account = await tx.findOneOrFail(
    Account,
    { id: accountId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  if (await isTaken(tx, clock.now(), { email, accountId })) return null;
  account.email = email;
  await tx.flush();
  await tx.nativeDelete(BrowserSession, { account: accountId });
  return { account, old };
}

/** Whether another account has the address, or may get it back. */
export async function isTaken(
  tx: EntityManager,
  now: Date,
  { email, accountId }: { email: string; accountId: string },
): Promise<boolean> {
  if ((await tx.count(Account, { email, id: { $ne: accountId } })) > 0) return true;
  return await isReserved(tx, now, email, accountId);
}

export function taken() {
  return errors.email_taken('Another account uses this e-mail address.', {
    nextAction: 'Choose another e-mail address, or sign in to the account that uses this address.',
  });
}
