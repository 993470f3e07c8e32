/** Expiry and deletion of agents' access requests. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow } from '#db/workflow-messages.ts';
import { accessRequestStatusAt } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { AccessRequest } from './access-request.ts';

const keptMs = 30 * dayMs;

/** Signals the request's workflow that the row has changed. */
export function signalAccessRequest(em: EntityManager, clock: Clock, requestId: string): void {
  signalWorkflow(em, clock, 'grantAccess', { requestId }, 'moved');
}

/** Expires the pending requests for an address that its account no longer has, with their links and secrets. Answered requests stay as they are. */
export async function expireOpenRequests(em: EntityManager, clock: Clock, email: string): Promise<void> {
  const ended = await em.execute<{ id: string }[]>(
    `update access_request set status = 'expired', end_reason = 'address_changed' where email = ? and status = 'pending' returning id`,
    [email],
  );
  for (const { id } of ended) signalAccessRequest(em, clock, id);
  await em.flush();
}

/** Expires a request that is due. Returns its status, and when that changes at the latest. */
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

export type RequestEnd = 'unanswered' | 'not_redeemed' | 'wrong_codes' | 'address_changed';

/** Why a request expired. */
export function endOf({ endReason, answeredAt }: Pick<AccessRequest, 'endReason' | 'answeredAt'>): RequestEnd {
  return endReason ?? (answeredAt ? 'not_redeemed' : 'unanswered');
}

/** Deletes old requests, with the network address of each. Returns how many. */
export async function sweepAccessRequests(em: EntityManager, now: Date): Promise<number> {
  return await em.nativeDelete(AccessRequest, { expiresAt: { $lt: new Date(now.getTime() - keptMs) } });
}
