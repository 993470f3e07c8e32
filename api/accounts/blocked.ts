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

/** Throws `access_denied` where the account is blocked or being deleted. */
export function requireNotStopped(account: Pick<Account, 'blockReason' | 'deleteAt' | 'purgedAt'>): void {
  requireNotBlocked(account);
  requireNotDeleting(account);
}

/** Until its owner restores it, nobody gets access to an account that is being deleted. Throws `access_denied`. */
export function requireNotDeleting({ deleteAt, purgedAt }: Pick<Account, 'deleteAt' | 'purgedAt'>): void {
  if (!deleteAt && !purgedAt) return;
  throw errors.access_denied('This account is being deleted.', {
    nextAction: 'Ask the owner to sign in and restore it.',
  });
}

/** Why the account with this address is blocked; null if it is not, or does not exist. */
export async function blockOfAddress(em: EntityManager, email: string): Promise<string | null> {
  return (await em.findOne(Account, { email }, { disableIdentityMap: true }))?.blockReason ?? null;
}
