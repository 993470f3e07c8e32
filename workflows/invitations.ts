/**
 * inviteCollaborator: an invitation to a site, from the call until it is accepted, withdrawn or past its time. Its mail is a `notify` of
 * its own.
 *
 * Key: `invitation:<invitation>`. The row decides at each moment what the invitation is, its end included; this workflow writes down
 * that it has run out, and shows an operator what is waited for. If it is stuck or terminated: nothing is lost, for every reader
 * judges the end by itself.
 */
import { proxyActivities } from '@temporalio/workflow';
import type { Activities } from '#activities/index.ts';
import { watchRow } from './deadlines.ts';
import * as policies from './policies.ts';

const { settleInvitation } = proxyActivities<Activities>(policies.quick);

export async function inviteCollaborator({ invitationId }: { invitationId: string }): Promise<{ status: string }> {
  return await watchRow(
    () => settleInvitation.executeWithOptions({ summary: 'is it still open?' }, [invitationId]),
    () => 'Waits for an answer, to be withdrawn, or for its end.',
  );
}
