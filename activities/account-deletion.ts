/** The activities of `deleteAccount`. Each can run twice, and none does anything to an account that is not deleted. */

import { Account } from '#db/accounts/account.ts';
import { finishAccountPurge, isDeleting, settleAccountDeletion } from '#db/accounts/deletion.ts';
import { endMoney, removeAccountRows } from '#db/accounts/purge.ts';
import type { Deps } from '#runtime/deps.ts';

export function accountDeletionActivities(deps: Deps) {
  const { clock } = deps;
  return {
    /** As long as the account is deleted: its owner may have restored it, and bought a plan. */
    async endAccountMoney(accountId: string): Promise<void> {
      if (await isDeleting(deps.em(), accountId)) await endMoney(deps.em(), deps, accountId);
    },

    settleAccountDeletion: (accountId: string) => settleAccountDeletion(deps.em(), clock, accountId),

    async forgetAccount(accountId: string): Promise<void> {
      const purging = { id: accountId, purgedAt: { $ne: null } };
      if ((await deps.em().count(Account, purging)) === 0) throw new Error('the purge of this account has not begun');
      await removeAccountRows(deps.em(), clock, accountId);
    },

    finishAccountPurge: (accountId: string) => finishAccountPurge(deps.em(), accountId),
  };
}
