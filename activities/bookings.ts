/** The activity of `holdBooking`. */
import { settleHold } from '#db/bookings/holds.ts';
import type { Deps } from '#runtime/deps.ts';

export function bookingActivities({ em, clock }: Pick<Deps, 'em' | 'clock'>) {
  return {
    settleHold: (id: string) => settleHold(em(), clock.now(), id),
  };
}
