/** Asking for a change of an account's address, and withdrawing it. */

import type { Actor } from '#api/access.ts';
import { limitAddressChanges } from '#api/auth/rate-limits.ts';
import { hashSecret } from '#api/secrets.ts';
import type { Account } from '#db/accounts/account.ts';
import { EmailChange } from '#db/accounts/email-change.ts';
import type { EntityManager } from '#db/orm.ts';
import { addressConfirmMs } from '#rules/periods.ts';
import type { Deps } from '#runtime/deps.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { isTaken } from './address.ts';
import { requireSettledAddress } from './address-hold.ts';
import { mailOldAddress } from './address-links.ts';

/** The change that awaits confirmation, if any. */
export async function pendingChange(em: EntityManager, now: Date, accountId: string): Promise<EmailChange | null> {
  const pending = { status: 'pending', oldEmail: { $ne: null }, expiresAt: { $gt: now } } as const;
  return await em.findOne(EmailChange, { account: accountId, ...pending });
}

/** The address that has to confirm next. */
export const waitingFor = ({ oldConfirmedAt }: EmailChange): 'old' | 'new' => (oldConfirmedAt ? 'new' : 'old');

/**
 * Starts a change with an e-mail to the present address, in the caller's transaction, which has locked the new address
 * and then the account. An earlier pending change is withdrawn. `taken` changes nothing but must be committed: it counts
 * as an attempt, or tokens could be used to find out which addresses have accounts. Throws `rate_limited`,
 * `address_change_pending`.
 */
export async function askForChange(
  tx: EntityManager,
  deps: Deps,
  { account, email, actor }: { account: Account; email: string; actor: Actor },
): Promise<'asked' | 'taken'> {
  const now = deps.clock.now();
  await requireSettledAddress(tx, deps.clock, account.id, 'change it again');
  await limitAddressChanges(tx, deps, { account_id: account.id });
  await limitAddressChanges(tx, deps, { email });
  const taken = await isTaken(tx, now, { email, accountId: account.id });
  if (!taken) await withdrawChange(tx, account.id);
  const change = tx.create(EmailChange, {
    id: newId('addr'),
    account,
    email,
    oldEmail: account.email,
    askedBy: actor.via?.name ?? null,
    hash: hashSecret(newSecret('fre')),
    status: taken ? 'ended' : 'pending',
    createdAt: now,
    expiresAt: new Date(now.getTime() + addressConfirmMs),
  });
  if (taken) return 'taken';
  mailOldAddress(tx, deps, change);
  return 'asked';
}

export async function withdrawChange(tx: EntityManager, accountId: string): Promise<number> {
  return await tx.nativeUpdate(EmailChange, { account: accountId, status: 'pending' }, { status: 'ended' });
}
