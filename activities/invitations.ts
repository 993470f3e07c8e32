/** The step of `inviteCollaborator`. */
import { settleInvitation } from '../db/invitations.ts';
import type { Deps } from '../deps.ts';

export function invitationActivities({ em, clock }: Pick<Deps, 'em' | 'clock'>) {
  return {
    settleInvitation: (id: string) => settleInvitation(em(), clock.now(), id),
  };
}
