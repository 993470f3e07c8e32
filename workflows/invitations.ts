/**
 * inviteCollaborator: an invitation to a site, from the call until it is accepted, withdrawn or past its time. Its mail is a `notify` of
 * its own.
 *
 * Key: `invitation:<invitation>`. The row decides at each moment what the invitation is, its end included; this workflow writes down
 * that it has run out, and shows an operator what is waited for. If it is stuck or terminated: nothing is lost, for every reader
 * judges the end by itself.
 */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import * as policies from './policies.ts';

/** The row has moved: read it again. */
export const invitationMoved = defineSignal('moved');

const { settleInvitation } = proxyActivities<Activities>(policies.quick);

export async function inviteCollaborator({ invitationId }: { invitationId: string }): Promise<{ status: string }> {
  let moved = false;
  setHandler(invitationMoved, () => {
    moved = true;
  });
  for (;;) {
    moved = false;
    const invitation = await settleInvitation.executeWithOptions({ summary: 'is it still open?' }, [invitationId]);
    if (invitation.settled) {
      setCurrentDetails(`Ended: **${invitation.status}**.`);
      return { status: invitation.status };
    }
    setCurrentDetails('Waits for an answer, to be withdrawn, or for its end.');
    // The server's clock and ours differ a little: a second later it has run out for both.
    await condition(() => moved, invitation.leftMs + 1000);
  }
}
