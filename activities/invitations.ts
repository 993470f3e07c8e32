/** The step of `inviteCollaborator`. */
import { settleInvitation } from '../db/invitations.ts';
import type { PlatformDeps } from './index.ts';

export function invitationActivities({ em, clock }: Pick<PlatformDeps, 'em' | 'clock'>) {
  return {
    settleInvitation: (id: string) => settleInvitation(em(), clock.now(), id),
  };
}
