/**
 * grantAccess: an agent's request for access, from the mail to the owner until the agent has its token or the request is over.
 *
 * Key: `access:<request>`. The row decides at each moment what the request is, its deadlines included; this workflow writes down
 * what has run out, and shows an operator what is waited for. Ends when the row is settled: redeemed, denied or expired. If it is
 * stuck or terminated: nothing is lost, for every reader judges the deadline by itself.
 */
import { condition, defineSignal, proxyActivities, setCurrentDetails, setHandler } from '@temporalio/workflow';
import type { Activities } from '../activities/index.ts';
import * as policies from './policies.ts';

/** The row has moved: read it again. */
export const accessRequestMoved = defineSignal('moved');

const { settleAccess } = proxyActivities<Activities>(policies.quick);

const waitsFor: Record<string, string> = {
  pending: 'Waits for the owner to type the agent’s code.',
  approved: 'Approved. Waits for the agent to redeem it.',
};

export async function grantAccess({ requestId }: { requestId: string }): Promise<{ status: string }> {
  let moved = false;
  setHandler(accessRequestMoved, () => {
    moved = true;
  });
  for (;;) {
    moved = false;
    const request = await settleAccess.executeWithOptions({ summary: 'what is the request now?' }, [requestId]);
    setCurrentDetails(request.settled ? `Ended: **${request.status}**.` : (waitsFor[request.status] ?? ''));
    if (request.settled) return { status: request.status };
    // The server's clock and ours differ a little: a second later it has run out for both.
    await condition(() => moved, request.leftMs + 1000);
  }
}
