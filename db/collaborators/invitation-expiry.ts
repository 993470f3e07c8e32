/** Expiry of invitations. */

import { type Settled, settledAt } from '#db/deadlines.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow } from '#db/workflow-messages.ts';
import { invitationStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { Invitation } from './invitation.ts';

/** Signals the invitation's workflow that the row has changed. */
export function signalInvitation(em: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(em, clock, 'inviteCollaborator', { invitationId: id }, 'moved');
}

/** Expires an invitation that is due. Returns its status, and when that changes at the latest. */
export async function settleInvitation(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await em.nativeUpdate(Invitation, { id, status: 'open', expiresAt: { $lte: now } }, { status: 'expired' });
  const invitation = await em.findOne(Invitation, { id });
  if (!invitation) return settledAt(now, undefined);
  const status = invitationStatusAt(invitation, now);
  return settledAt(now, { status, endsAt: status === 'open' ? invitation.expiresAt : undefined });
}
