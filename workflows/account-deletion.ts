/**
 * deleteAccount: an account that its owner deletes, from the typed code until nothing of it is left but the receipts of others.
 *
 * Key: `account-deletion:<account>`. It cancels the plan at the provider first. For 30 days the owner can restore the account: the row says
 * until when, and `moved` makes this workflow read it. It waits while the operator blocks the account. Then it waits until `deleteSite` has purged each site, which also sends `moved`, and
 * removes the rest. If it is stuck, the last failure of its activity says why; if it is terminated, the hourly sweep starts it again, and it
 * continues.
 */
import { proxyActivities, setCurrentDetails } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settleAccountDeletion, forgetAccount, finishAccountPurge } = proxyActivities<Activities>(policies.quick);
const { endAccountMoney } = proxyActivities<Activities>(policies.providerQuery);

const waits: Record<string, string> = {
  deleting: 'Waiting for 30 days; until then, the owner can restore the account.',
  blocked: 'Waiting until the operator unblocks the account.',
  emptying: 'Waiting until its sites are removed.',
};

export async function deleteAccount({ accountId }: { accountId: string }): Promise<{ status: string }> {
  const { status } = await watchRow(
    async () => {
      await endAccountMoney.executeWithOptions({ summary: 'cancel its plan, close payments' }, [accountId]);
      return await settleAccountDeletion.executeWithOptions({ summary: 'check whether it was restored' }, [accountId]);
    },
    (state) => waits[state] ?? state,
    { reopens: 'restored' },
  );
  if (status !== 'purging') return { status };
  setCurrentDetails('Removing the account.');
  await forgetAccount.executeWithOptions({ summary: 'delete its rows, except receipts' }, [accountId]);
  await finishAccountPurge.executeWithOptions({ summary: 'record the end' }, [accountId]);
  return { status: 'purged' };
}
