/** The activity of `grantAccess`. */
import { settleAccessRequest } from '#db/auth/access-request-expiry.ts';
import type { Deps } from '#runtime/deps.ts';

export function accessRequestActivities({ em, clock }: Pick<Deps, 'em' | 'clock'>) {
  return {
    async settleAccess(requestId: string) {
      return await settleAccessRequest(em(), clock.now(), requestId);
    },
  };
}
