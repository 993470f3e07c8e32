/**
 * grantAccess: an agent's request for access, from the mail to the owner until the agent has its token or the request is over.
 *
 * Key: `access:<request>`. The row holds the state of the request, its deadlines included. This workflow records the expiry and shows
 * an operator what it waits for. It ends when the row is settled: redeemed, denied or expired. If it is stuck or terminated, nothing
 * is lost: every reader checks the deadline itself.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settleAccess } = proxyActivities<Activities>(policies.quick);

const waitsFor: Record<string, string> = {
  pending: 'Waiting for the owner to enter the agent’s code.',
  approved: 'Approved. Waiting for the agent to redeem it.',
};

export async function grantAccess({ requestId }: { requestId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleAccess.executeWithOptions({ summary: 'read the state of the request' }, [requestId]),
    (status) => waitsFor[status] ?? '',
  );
}
