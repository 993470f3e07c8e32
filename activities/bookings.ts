/** The step of `holdBooking`. */
import { settleHold } from '../db/holds.ts';
import type { Deps } from '../deps.ts';

export function bookingActivities({ em, clock }: Pick<Deps, 'em' | 'clock'>) {
  return {
    settleHold: (id: string) => settleHold(em(), clock.now(), id),
  };
}
