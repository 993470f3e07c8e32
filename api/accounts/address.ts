/** Changing an account's address: requested, then confirmed with a link that is sent to the new address. */

import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import { limitAddressChanges } from '#api/auth/rate-limits.ts';
import { readEmail } from '#api/email-addresses.ts';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { EmailChange } from '#db/accounts/email-change.ts';
import { expireOpenRequests } from '#db/auth/access-request-expiry.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import { expireSigninLinks } from '#db/auth/signin-expiry.ts';
import { lockAddress } from '#db/mail/limits.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { requireNotStopped } from './blocked.ts';

const confirmMs = dayMs;

/** The change that awaits confirmation, if any. */
export async function pendingChange(em: EntityManager, now: Date, accountId: string): Promise<EmailChange | null> {
  return await em.findOne(EmailChange, { account: accountId, status: 'pending', expiresAt: { $gt: now } });
}

/**
 * E-mails a link to the new address and a notice to the present one, in the caller's transaction, which has locked the
 * account. An earlier pending change is withdrawn. `taken` changes nothing but must be committed: it counts as an
 * attempt, or tokens could be used to find out which addresses have accounts. Throws `rate_limited`.
 */
export async function askForChange(
  tx: EntityManager,
  deps: Deps,
  account: Account,
  email: string,
): Promise<'asked' | 'taken'> {
  const { clock, config } = deps;
  await limitAddressChanges(tx, deps, { account_id: account.id });
  await lockAddress(tx, email);
  await limitAddressChanges(tx, deps, { email });
  const isTaken = (await tx.count(Account, { email })) > 0;
  if (!isTaken) await withdrawChange(tx, account.id);
  const now = clock.now();
  const expiresAt = new Date(now.getTime() + confirmMs);
  const secret = newSecret('fre');
  tx.create(EmailChange, {
    id: newId('addr'),
    account,
    email,
    hash: hashSecret(secret),
    status: isTaken ? 'ended' : 'pending',
    createdAt: now,
    expiresAt,
  });
  if (isTaken) return 'taken';
  queueMail(tx, deps, {
    kind: 'address-confirmation',
    to: email,
    data: { link: `${config.baseUrl}/address/${secret}`, accountName: account.name },
    until: expiresAt,
    account: account.id,
  });
  queueMail(tx, deps, {
    kind: 'address-change',
    to: account.email,
    data: { newAddress: email, done: false },
    account: account.id,
  });
  return 'asked';
}

export async function withdrawChange(tx: EntityManager, accountId: string): Promise<number> {
  return await tx.nativeUpdate(EmailChange, { account: accountId, status: 'pending' }, { status: 'ended' });
}

/** The change of the link, and whether it can still be confirmed. Throws `not_found`. */
export async function readChange(em: EntityManager, now: Date, secret: string) {
  const change = await em.findOne(EmailChange, { hash: hashSecret(secret) }, { populate: ['account'] });
  if (!change) return noSuchLink();
  return { email: change.email, accountName: change.account.name, status: statusAt(change, now) };
}

/**
 * Changes the address, once. Throws `not_found`, `expired`, `email_taken`, and `access_denied` for a blocked account.
 */
export async function confirmChange(em: EntityManager, deps: Deps, secret: string): Promise<{ email: string }> {
  const hash = hashSecret(secret);
  try {
    return await em.transactional(async (tx) => {
      const change = await tx.findOne(EmailChange, { hash });
      if (!change) return noSuchLink();
      const { id, account, email } = change;
      requireNotStopped(await tx.findOneOrFail(Account, { id: account.id }, { refresh: true }));
      const { old } = await changeAddress(tx, deps, account.id, email);
      // Under the account's lock, so that no second confirmation or later change runs in between.
      const open = { id, status: 'pending', expiresAt: { $gt: deps.clock.now() } } as const;
      if ((await tx.nativeUpdate(EmailChange, open, { status: 'confirmed' })) === 0) {
        throw errors.expired('This link was already used, was replaced by a newer one, or has expired.');
      }
      queueMail(tx, deps, {
        kind: 'address-change',
        to: old,
        data: { newAddress: email, done: true },
        account: account.id,
      });
      return { email };
    });
  } catch (error) {
    if (!isTakenError(error)) throw error;
    await em.fork().nativeUpdate(EmailChange, { hash, status: 'pending' }, { status: 'ended' });
    throw taken();
  }
}

/** Changes an account's address for an operator. Throws `invalid_email`, `not_found`, `email_taken`. */
export async function setAddress(em: EntityManager, deps: Pick<Deps, 'clock'>, accountId: string, email: string) {
  const address = readEmail(email);
  if ((await em.count(Account, { id: accountId })) === 0) throw errors.not_found('No account has this id.');
  try {
    return await em.transactional(async (tx) => {
      const changed = await changeAddress(tx, deps, accountId, address);
      await withdrawChange(tx, accountId);
      return changed;
    });
  } catch (error) {
    throw isTakenError(error) ? taken() : error;
  }
}

/**
 * Changes the account's address in the caller's transaction. Links that were sent to the old address expire, and
 * browsers must sign in again. Throws `email_taken`.
 */
async function changeAddress(tx: EntityManager, { clock }: Pick<Deps, 'clock'>, accountId: string, email: string) {
  const { email: old } = await tx.findOneOrFail(Account, { id: accountId }, { disableIdentityMap: true });
  // Before the account is locked: answering a request and using a link lock these rows first.
  await expireOpenRequests(tx, clock, old);
  await expireSigninLinks(tx, clock.now(), old);
  const account = await tx.findOneOrFail(
    Account,
    { id: accountId },
    { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true },
  );
  account.email = email;
  await tx.flush();
  await tx.nativeDelete(BrowserSession, { account: accountId });
  return { account, old };
}

function statusAt({ status, expiresAt }: EmailChange, now: Date): 'pending' | 'over' {
  return status === 'pending' && expiresAt > now ? 'pending' : 'over';
}

function isTakenError(error: unknown): boolean {
  return error instanceof UniqueConstraintViolationException;
}

export function taken() {
  return errors.email_taken('Another account uses this e-mail address.', {
    nextAction: 'Choose another e-mail address, or sign in to the account that uses this address.',
  });
}

function noSuchLink(): never {
  throw errors.not_found('This link is not valid or has expired.');
}
