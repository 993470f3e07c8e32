/** The activity of `inviteCollaborator`. */
import { settleInvitation } from '#db/collaborators/invitation-expiry.ts';
import type { Deps } from '#runtime/deps.ts';

export function invitationActivities({ em, clock }: Pick<Deps, 'em' | 'clock'>) {
  return {
    settleInvitation: (id: string) => settleInvitation(em(), clock.now(), id),
  };
}
