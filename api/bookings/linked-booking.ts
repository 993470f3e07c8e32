/** The booking of the link in a visitor's mail, for the pages behind it. */
import type { FastifyRequest } from 'fastify';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import { isClosed } from '#db/sites/blocks.ts';
import type { Site } from '#db/sites/site.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import type { BookingShown } from '#web/pages/booking.ts';
import { bookingOfLink } from './cancellation.ts';
import { type Choice, choiceOf, siteOf } from './offers.ts';
import type { ShownBooking } from './schemas.ts';
import { declaredOf } from './timetable.ts';

export type Linked = { Params: { public_id: string; secret: string } };

/** Throws `not_found`. */
export async function bookingOf({
  em,
  params,
}: Pick<FastifyRequest<Linked>, 'em' | 'params'>): Promise<{ site: Site; booking: ShownBooking }> {
  const site = await siteOf(em, params.public_id);
  return { site, booking: await bookingOfLink(em, site, params.secret) };
}

/** What the times are to which the visitor can move the booking; null if it cannot be moved. */
export async function timesFor(em: EntityManager, site: Site, booking: ShownBooking): Promise<Choice | null> {
  const declared = isClosed(site) || booking.status !== 'confirmed' ? null : await declaredOf(em, site);
  return (declared && choiceOf(declared, booking)) ?? null;
}

/** Why its visitor can neither cancel nor move the booking; undefined if they can. */
export function closedWords(booking: ShownBooking, now: Date): { title: string; text: string } | undefined {
  const status = bookingStatusAt(booking, now);
  if (status === 'cancelled')
    return { title: 'This booking is cancelled', text: 'This time is no longer reserved for you.' };
  if (status === 'expired')
    return {
      title: 'This booking has expired',
      text: 'We did not receive your payment in time, so the time is no longer reserved for you.',
    };
  if (booking.endsAt <= now) return { title: 'This booking has ended', text: 'The booked time has passed.' };
  // A visitor who has been served must not get a refund.
  if (booking.startsAt <= now)
    return {
      title: 'This booking has started',
      text: 'You can no longer move or cancel this booking here. Please contact the website’s owner.',
    };
  return undefined;
}

export async function shownOf(
  em: EntityManager,
  booking: ShownBooking,
  site: Site,
  { config }: Pick<Deps, 'config'>,
): Promise<BookingShown> {
  const { startsAt, endsAt, seats, reference, serviceName, calendar } = booking;
  return {
    service: serviceName,
    calendar: calendar.name,
    timeZone: calendar.timeZone,
    startsAt,
    endsAt,
    seats,
    reference,
    siteTitle: site.title,
    ...(await canonicalUrl(em, config, site)),
  };
}
