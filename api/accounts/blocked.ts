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

/** Throws `access_denied` where the account is blocked, and `account_deleting`. */
export function requireNotStopped(account: Pick<Account, 'blockReason' | 'deleteAt' | 'purgedAt'>): void {
  requireNotBlocked(account);
  requireNotDeleting(account);
}

/** An account that is being deleted gives no new access before its owner restores it. Throws `account_deleting`. */
export function requireNotDeleting({ deleteAt, purgedAt }: Pick<Account, 'deleteAt' | 'purgedAt'>): void {
  if (purgedAt) {
    throw errors.account_deleting('This account has been deleted and cannot be restored.', {
      nextAction: 'Tell the owner. They need an account with another address.',
    });
  }
  if (!deleteAt) return;
  throw errors.account_deleting('This account is being deleted. Its owner can sign in and restore it.', {
    nextAction: 'Ask the owner to sign in and restore the account. Then request access again.',
  });
}

/** Why the account with this address is blocked; null if it is not, or does not exist. */
export async function blockOfAddress(em: EntityManager, email: string): Promise<string | null> {
  return (await em.findOne(Account, { email }, { disableIdentityMap: true }))?.blockReason ?? null;
}
