/** What happens to an invitation besides its answer: it runs out. */
import type { Clock } from '../clock.ts';
import { workflowIds } from '../workflows/ids.ts';
import { type Settled, settledAt } from './deadlines.ts';
import { Invitation } from './entities/invitation.ts';
import type { EntityManager } from './orm.ts';
import { enqueue } from './outbox.ts';
import { invitationStatusAt } from './states.ts';

/** Tells the invitation's workflow, when the transaction commits, that the row has moved. */
export function tellInvitationWorkflow(em: EntityManager, clock: Clock, id: string): void {
  enqueue(em, clock, {
    kind: 'signal',
    workflowId: workflowIds.inviteCollaborator(id),
    message: { signal: 'moved' },
  });
}

/** Writes down that an invitation has run out, if it has. Answers what it is, and for how long it stays so at most. */
export async function settleInvitation(em: EntityManager, now: Date, id: string): Promise<Settled> {
  await em.nativeUpdate(Invitation, { id, status: 'open', expiresAt: { $lte: now } }, { status: 'expired' });
  const invitation = await em.findOne(Invitation, { id });
  if (!invitation) return settledAt(now, undefined);
  const status = invitationStatusAt(invitation, now);
  return settledAt(now, { status, endsAt: status === 'open' ? invitation.expiresAt : undefined });
}
