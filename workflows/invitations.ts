/**
 * inviteCollaborator: an invitation to a site, from the call until it is accepted, withdrawn or expired. A separate `notify` sends its mail.
 *
 * Key: `invitation:<invitation>`. The row holds the state of the invitation, its expiry included. This workflow records the expiry and
 * shows an operator what it waits for. If it is stuck or terminated, nothing is lost: every reader checks the deadline itself.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import * as policies from './policies.ts';
import { watchRow } from './watch-row.ts';

const { settleInvitation } = proxyActivities<Activities>(policies.quick);

export async function inviteCollaborator({ invitationId }: { invitationId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleInvitation.executeWithOptions({ summary: 'check the invitation' }, [invitationId]),
    () => 'Waiting for an answer, a withdrawal or expiry.',
  );
}
