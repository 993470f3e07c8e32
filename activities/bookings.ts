/** The step of `holdBooking`. */
import { settleHold } from '../db/holds.ts';
import type { PlatformDeps } from './index.ts';

export function bookingActivities({ em, clock }: Pick<PlatformDeps, 'em' | 'clock'>) {
  return {
    settleHold: (id: string) => settleHold(em(), clock.now(), id),
  };
}
