/** The step of `grantAccess`. */
import { settleAccessRequest } from '../db/access-requests.ts';
import type { PlatformDeps } from './index.ts';

export function accessRequestActivities({ em, clock }: Pick<PlatformDeps, 'em' | 'clock'>) {
  return {
    async settleAccess(requestId: string) {
      return await settleAccessRequest(em(), clock.now(), requestId);
    },
  };
}
