/** The moves of agents' requests for access that are not an answer to anybody: running out, and being forgotten. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow } from '#db/workflow-messages.ts';
import { accessRequestStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { AccessRequest } from './access-request.ts';

const keptMs = 30 * 24 * 3600_000;

/** Tells the request's workflow, when the transaction commits, that the row has moved. */
export function signalAccessRequest(em: EntityManager, clock: Clock, requestId: string): void {
  signalWorkflow(em, clock, 'grantAccess', { requestId }, 'moved');
}

/** Ends the open requests for the address: their links and secrets are good for nothing any more. What is answered meanwhile stays so. */
export async function expireOpenRequests(em: EntityManager, clock: Clock, email: string): Promise<void> {
  const ended = await em.execute<{ id: string }[]>(
    `update access_request set status = 'expired' where email = ? and status = 'pending' returning id`,
    [email],
  );
  for (const { id } of ended) signalAccessRequest(em, clock, id);
  await em.flush();
}

/** Writes down that a request has run out, if it has. Answers what it is, and for how long it stays so at most. */
export async function settleAccessRequest(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await em.nativeUpdate(
    AccessRequest,
    { id, status: { $in: ['pending', 'approved'] }, expiresAt: { $lte: now } },
    { status: 'expired' },
  );
  const request = await em.findOne(AccessRequest, { id });
  if (!request) return settledAt(now, undefined);
  const status = accessRequestStatusAt(request, now);
  const waits = status === 'pending' || status === 'approved';
  return settledAt(now, { status, endsAt: waits ? request.expiresAt : undefined });
}

/** Forgets requests that are long over, with the network address that each holds. Answers how many. */
export async function sweepAccessRequests(em: EntityManager, now: Date): Promise<number> {
  return await em.nativeDelete(AccessRequest, { expiresAt: { $lt: new Date(now.getTime() - keptMs) } });
}
