/** The link in a visitor's mail. Opening it shows the booking; only the button cancels, so a mail scanner that follows links does nothing. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { formsFor, pageOptions, sendPage } from '#api/plugins/browser.ts';
import { homeOf } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type BookingShown, bookingOverPage, cancelPage } from '#web/pages/booking.ts';
import { bookingOfLink, cancelBooking, type MoneyBack } from './cancelling.ts';
import { siteOf } from './offering.ts';
import type { ShownBooking } from './schemas.ts';

type Linked = { Params: { public_id: string; secret: string } };

export function bookingPages(app: Api, deps: Deps): void {
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
      if (overOf(booking, deps) !== undefined) return show(request, reply, deps);
      const { moneyBack } = await cancelBooking(request.em, deps, booking, 'visitor');
      const title = 'The booking is cancelled';
      const text = `The time is free for somebody else. The website is told of it.${moneyBack ? wayBack[moneyBack.way] : ''}`;
      return sendPage(reply, bookingOverPage({ ...(await shownOf(request.em, booking, site, deps)), title, text }));
    },
  );
}

const wayBack: Record<MoneyBack['way'], string> = {
  'by itself': ' What you paid goes back to where it came from; that can take some days.',
  'by its owner': ' What you paid has to be given back by the website itself: please ask them for it.',
};

async function load({ em, params }: FastifyRequest<Linked>): Promise<{ site: Site; booking: ShownBooking }> {
  const site = await siteOf(em, params.public_id);
  return { site, booking: await bookingOfLink(em, site, params.secret) };
}

async function show(request: FastifyRequest<Linked>, reply: FastifyReply, deps: Deps) {
  const { site, booking } = await load(request);
  const facts = await shownOf(request.em, booking, site, deps);
  const over = overOf(booking, deps);
  if (over) return sendPage(reply, bookingOverPage({ ...facts, ...over }), 410);
  return sendPage(reply, cancelPage({ ...facts, form: formsFor(request, reply, deps) }));
}

/** What there is to say of a booking that cannot be cancelled; undefined for one that can. */
function overOf(booking: ShownBooking, { clock }: Deps): { title: string; text: string } | undefined {
  const now = clock.now();
  const status = bookingStatusAt(booking, now);
  if (status === 'cancelled') return { title: 'This booking is cancelled', text: 'It does not stand any more.' };
  if (status === 'expired')
    return { title: 'This booking is over', text: 'It was not paid for in time, so it does not stand.' };
  if (booking.endsAt <= now) return { title: 'This booking is over', text: 'Its time has passed.' };
  // Who has come would have the money back for what he had.
  if (booking.startsAt <= now)
    return { title: 'This booking has begun', text: 'It can be cancelled here no more. Ask the website instead.' };
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
    ...(await homeOf(em, config, site)),
  };
}
