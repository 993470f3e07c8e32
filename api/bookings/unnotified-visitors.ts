/** Visitors whom the platform sends no e-mail about a change of their booking. */
import { notifyAddress } from '#api/notify-to.ts';
import { Bookable } from '#db/bookings/bookable.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { ShownBooking } from './schemas.ts';

/** Who has to tell the visitor, and how. `about` is the change, `what` completes "tell the visitor …". */
export async function howToNotify(
  em: EntityManager,
  { site: { id }, status, visitorName, notice, createdById, reference }: ShownBooking,
  { about, what }: { about: string; what: string },
): Promise<string> {
  const site = await em.findOneOrFail(Site, { id });
  const bookable = await em.findOne(Bookable, { site: id });
  const who = await notifyAddress(em, site, bookable?.notifyCollaboratorId);
  const how =
    notice && !createdById && status !== 'held'
      ? `by replying to the e-mail “New booking” with the reference ${reference}; the reply goes to the visitor`
      : `in person or by phone${notice ? '' : ': this platform sends no e-mails'}`;
  return `The platform sends the visitor no e-mail about ${about}. Ask ${who} to tell ${visitorName} ${what}, ${how}.`;
}

/** Whether an e-mail to the visitor names the time to which the booking was moved last. */
export const isMoveMailed = ({ movedAt, mail }: ShownBooking): boolean =>
  movedAt != null && mail != null && mail.status !== 'failed' && mail.createdAt >= movedAt;

/** Whether the last move was by the site's people, and no e-mail notifies the visitor. */
export const isMoveUnnotified = (booking: ShownBooking): boolean =>
  booking.visitorName !== '' && booking.movedById != null && !isMoveMailed(booking);
