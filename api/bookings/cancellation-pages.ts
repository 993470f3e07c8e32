/** The link in a visitor's mail. Opening it shows the booking; only the button cancels it, so link scanners change nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type BookingShown, cancelPage, closedBookingPage } from '#web/pages/booking.ts';
import { bookingOfLink, cancelBooking, type MoneyBack } from './cancellation.ts';
import { siteOf } from './offers.ts';
import type { ShownBooking } from './schemas.ts';

type Linked = { Params: { public_id: string; secret: string } };

export function cancellationPages(app: Api, deps: Deps): void {
  app.get<Linked>(
    '/b/:public_id/cancel/:secret',
    pageOptions('booking.show_to_visitor', 'bookings'),
    (request, reply) => show(request, reply, deps),
  );

  app.post<Linked>(
    '/b/:public_id/cancel/:secret',
    pageOptions('booking.cancel_by_visitor', 'bookings'),
    async (request, reply) => {
      const { site, booking } = await load(request);
      if (closedWords(booking, deps) !== undefined) return show(request, reply, deps);
      const { booking: cancelled, moneyBack } = await cancelBooking(request.em, deps, booking, 'visitor');
      const title = 'Your booking is cancelled';
      const notified = cancelled.notice ? 'We are notifying the owner by e-mail.' : 'Please tell the owner.';
      const confirmed = cancelled.mail ? ' We are also sending you an e-mail about it.' : '';
      const text = `${notified}${confirmed}${moneyBack ? refundWords[moneyBack.way] : ''}`;
      return sendPage(reply, closedBookingPage({ ...(await shownOf(request.em, booking, site, deps)), title, text }));
    },
  );
}

const refundWords: Record<MoneyBack['way'], string> = {
  automatic: ' Your payment is being refunded, which can take a few days.',
  'by the owner': ' The owner of the website has to refund your payment directly. Please ask them for the refund.',
};

async function load({ em, params }: FastifyRequest<Linked>): Promise<{ site: Site; booking: ShownBooking }> {
  const site = await siteOf(em, params.public_id);
  return { site, booking: await bookingOfLink(em, site, params.secret) };
}

async function show(request: FastifyRequest<Linked>, reply: FastifyReply, deps: Deps) {
  const { site, booking } = await load(request);
  const facts = await shownOf(request.em, booking, site, deps);
  const closed = closedWords(booking, deps);
  if (closed) return sendPage(reply, closedBookingPage({ ...facts, ...closed }), 410);
  return sendPage(reply, cancelPage({ ...facts, form: formsFor(request, reply, deps) }));
}

/** Why the booking cannot be cancelled; undefined if it can. */
function closedWords(booking: ShownBooking, { clock }: Deps): { title: string; text: string } | undefined {
  const now = clock.now();
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
      text: 'You can no longer cancel this booking here. Please contact the website’s owner.',
    };
  return undefined;
}

async function shownOf(em: EntityManager, booking: ShownBooking, site: Site, { config }: Deps): Promise<BookingShown> {
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
