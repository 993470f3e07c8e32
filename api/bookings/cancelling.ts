/** Bookings read, and cancelled: by the site's people, or by the visitor with the link of the mail. */
import { written } from '../../currencies.ts';
import { tellOfCancelling } from '../../db/booking-mails.ts';
import { lockCalendars, tellHold } from '../../db/bookings.ts';
import { beginRefund } from '../../db/charges.ts';
import { Booking } from '../../db/entities/booking.ts';
import { Payment } from '../../db/entities/payment.ts';
import { Site } from '../../db/entities/site.ts';
import type { EntityManager } from '../../db/orm.ts';
import { endPayment } from '../../db/payments.ts';
import { bookingStatusAt } from '../../db/states.ts';
import type { Deps } from '../../deps.ts';
import { type AppError, errors } from '../../errors.ts';
import { isId } from '../../ids.ts';
import { type Actor, findSite } from '../access.ts';
import { hashSecret } from '../secrets.ts';
import { type ShownBooking, shown } from './schemas.ts';

/** The booking, if the caller may act on its site. Throws `not_found`. */
export async function loadBooking(em: EntityManager, actor: Actor, id: string): Promise<ShownBooking> {
  const booking = isId('book', id) ? await em.findOne(Booking, { id }, shown) : null;
  if (booking && (await findSite(em, actor, booking.site.id))) return booking;
  throw noSuchBooking();
}

/** The booking whose mail had this link. Throws `not_found`. */
export async function bookingOfLink(em: EntityManager, site: Site, cancelSecret: string): Promise<ShownBooking> {
  const booking = await em.findOne(Booking, { site, cancelHash: hashSecret(cancelSecret) }, shown);
  if (booking) return booking;
  throw errors.not_found('This link belongs to no booking. Open it as it stands in the mail.');
}

/** Ends the booking and frees its seats. Throws `not_cancellable`. */
export async function cancelBooking(
  em: EntityManager,
  deps: Deps,
  found: Pick<Booking, 'id' | 'calendar'>,
  by: 'visitor' | 'site',
): Promise<ShownBooking> {
  return await em.transactional(async (tx) => {
    await lockCalendars(tx, [found.calendar.id]);
    const booking = await tx.findOneOrFail(Booking, { id: found.id }, { ...shown, refresh: true });
    const status = bookingStatusAt(booking, deps.clock.now());
    if (status === 'cancelled' || status === 'expired') throw notLive(status);
    const site = await tx.findOneOrFail(Site, booking.site.id);
    if (status === 'held') tellHold(tx, deps.clock, booking.id);
    const moneyBack = booking.paymentId ? await endPaying(tx, deps.clock, booking.paymentId) : null;
    booking.status = 'cancelled';
    booking.cancelledAt = deps.clock.now();
    // Who pays on a page that is open all the same is told that it goes back.
    if (!booking.paying) booking.visitorSealed = null;
    await tellOfCancelling(tx, deps, { booking, site, by, moneyBack });
    return booking;
  });
}

/** What was paid goes back, and nothing can be paid any more. Answers what goes back, in words. The calendar is locked. */
async function endPaying(tx: EntityManager, clock: Deps['clock'], paymentId: string): Promise<string | null> {
  await tx.execute('select 1 from payment where id = ? for update', [paymentId]);
  const payment = await tx.findOneOrFail(Payment, { id: paymentId }, { refresh: true });
  endPayment(tx, clock, payment);
  if (payment.status !== 'paid') return null;
  await beginRefund({ tx, payment }, clock, 'cancelled');
  return written(payment);
}

function notLive(status: 'cancelled' | 'expired'): AppError {
  return errors.not_cancellable(
    status === 'cancelled'
      ? 'This booking was cancelled already.'
      : 'The time to pay for this booking is over, so it does not stand.',
  );
}

function noSuchBooking(): AppError {
  return errors.not_found('There is no booking of that id that this token may see.', {
    nextAction: 'Read GET /v1/sites/{id}/bookings for the bookings of a site.',
  });
}
