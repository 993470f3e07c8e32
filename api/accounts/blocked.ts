/** The errors for accounts that the operator has blocked, and for those that their owner deletes. */
import { Account } from '#db/accounts/account.ts';
import type { EntityManager } from '#db/orm.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** `reason` is the operator's text for the owner. */
export function accountBlocked(reason: string): AppError {
  return errors.access_denied(`This account has been blocked by the operator. Reason: ${reason}`, {
    nextAction:
      'Tell the owner to fix the problem and contact the operator. API calls fail until the account is unblocked.',
  });
}

/** Throws `access_denied` where the account is blocked. */
export function requireNotBlocked({ blockReason }: Pick<Account, 'blockReason'>): void {
  if (blockReason != null) throw accountBlocked(blockReason);
}

/** The same, and where the account is being deleted: until its owner restores it, nobody gets access to it. */
export function requireNotStopped(account: Pick<Account, 'blockReason' | 'deleteAt' | 'purgedAt'>): void {
  requireNotBlocked(account);
  if (!account.deleteAt && !account.purgedAt) return;
  throw errors.access_denied('This account is being deleted.', {
    nextAction: 'Ask the owner to sign in and restore it.',
  });
}

/** Why the account with this address is blocked; null if it is not, or does not exist. */
export async function blockOfAddress(em: EntityManager, email: string): Promise<string | null> {
  return (await em.findOne(Account, { email }, { disableIdentityMap: true }))?.blockReason ?? null;
}
