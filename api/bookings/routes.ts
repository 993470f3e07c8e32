import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { loadSite } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { notifyAddress, notifyOptions } from '#api/notify-to.ts';
import { byId, listOf, newestFirst, page } from '#api/pagination.ts';
import { activePayoutAccount } from '#api/payments/payout-destination.ts';
import { idParams } from '#api/schemas.ts';
import { Booking } from '#db/bookings/booking.ts';
import { bookingsWithStatus, liveBookings } from '#db/bookings/seats.ts';
import type { EntityManager } from '#db/orm.ts';
import { replyAddress } from '#db/sites/notify-address.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { bookingEmbed } from '#web/widgets/booking-widget.ts';
import { cancelBooking, loadBooking } from './cancellation.ts';
import { cancelledBookingSchema, cancelledView } from './cancelled-view.ts';
import {
  bookableChange,
  bookableInput,
  bookableSchema,
  bookingSchema,
  bookingsQuery,
  bookingView,
  shown,
} from './schemas.ts';
import {
  calendarOf,
  type DeclaredTimetable,
  declareBookable,
  endBookable,
  readBookable,
  serviceOf,
  updateBookable,
} from './timetable.ts';

/** The timetable, for the site's people. */
export function bookableRoutes(app: Api, deps: Deps): void {
  const capability = 'bookings' as const;
  const view = (em: EntityManager, declared: DeclaredTimetable) => bookableView(em, deps, declared);

  app.post(
    '/v1/sites/:id/bookable',
    {
      config: {
        operation: 'bookable.declare',
        needs: 'write',
        capability,
        invalid: {
          calendars: 'invalid_timetable',
          services: 'invalid_timetable',
          notify_to: 'invalid_notify_to',
          reply_to: 'invalid_notify_to',
        },
        recordsOnce: true,
        replay: async ({ em, actor }: FastifyRequest, siteId) => view(em, await readBookable(em, actor, siteId)),
      },
      schema: {
        summary: 'Set the timetable',
        description:
          'Replaces the previous timetable. A calendar that is missing from the new timetable is archived with its bookings. ' +
          'Hours are local times in the calendar’s time zone. When the clocks change, a skipped hour is not offered, and a repeated ' +
          'hour is offered twice. Opening hours that pages show are in the source of the site.',
        params: idParams,
        body: bookableInput,
        response: { 200: bookableSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const declared = await declareBookable(em, deps, actor, params.id, body);
      request.answeredId = declared.site.id;
      return await view(em, declared);
    },
  );

  app.get(
    '/v1/sites/:id/bookable',
    {
      config: { operation: 'bookable.read', needs: 'read', capability },
      schema: {
        summary: 'Read the timetable',
        description: `Free days and times: ${call('offer.days')} and ${call('offer.slots')}. To book and pay as a visitor does, open its \`url\`: a program gets JSON that says how.`,
        params: idParams,
        response: { 200: bookableSchema },
      },
    },
    async ({ em, actor, params }) => view(em, await readBookable(em, actor, params.id)),
  );

  app.patch(
    '/v1/sites/:id/bookable',
    {
      config: {
        operation: 'bookable.update',
        needs: 'write',
        capability,
        invalid: { notify_to: 'invalid_notify_to', reply_to: 'invalid_notify_to' },
      },
      schema: {
        summary: 'Change where e-mails about bookings go',
        description: 'Only the sent fields change, and the timetable stays as it is.',
        params: idParams,
        body: bookableChange,
        response: { 200: bookableSchema },
      },
    },
    async ({ em, actor, params, body }) => view(em, await updateBookable(em, deps, actor, params.id, body)),
  );

  app.delete(
    '/v1/sites/:id/bookable',
    {
      config: { operation: 'bookable.end', needs: 'write', capability },
      schema: {
        summary: 'Stop accepting bookings',
        description: 'Archives the calendars. Existing bookings stay valid until they are cancelled.',
        params: idParams,
        querystring: z.strictObject({ confirm: z.enum(['true', 'false']).default('false') }),
        response: { 200: bookableSchema },
      },
    },
    async ({ em, actor, params, query }) =>
      view(em, await endBookable(em, deps, actor, params.id, { confirmed: query.confirm === 'true' })),
  );
}

/** Bookings, for the site's people. */
export function bookingRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const capability = 'bookings' as const;

  app.get(
    '/v1/sites/:id/bookings',
    {
      config: { operation: 'booking.list', needs: 'read', capability },
      schema: {
        summary: 'List a site’s bookings',
        description: `Lists the newest bookings and blocks first, including those in archived calendars. Free times: ${call('offer.days')}.`,
        params: idParams,
        querystring: bookingsQuery,
        response: { 200: listOf(bookingSchema) },
      },
    },
    async ({ em, actor, params, query }) => {
      const site = await loadSite(em, actor, params.id);
      const { status, kind, since, from, to } = query;
      const now = clock.now();
      const times = [since, from, to].map((time) => time?.toISOString() ?? '');
      const { rows, next_cursor } = await page(
        config.secret,
        ['bookings', site.id, status ?? '', kind ?? '', ...times],
        query,
        newestFirst(em, Booking, {
          $and: [
            { site: site.id },
            ...(status === undefined ? [] : [bookingsWithStatus(status, now)]),
            ...(kind === undefined ? [] : [{ kind }]),
            ...(since === undefined ? [] : [{ createdAt: { $gte: since } }]),
            ...(from === undefined ? [] : [{ endsAt: { $gt: from } }]),
            ...(to === undefined ? [] : [{ startsAt: { $lt: to } }]),
          ],
        }),
        byId,
      );
      const whole = await em.populate(rows, shown.populate);
      return { items: whole.map((booking) => bookingView(config, booking, now)), next_cursor };
    },
  );

  app.get(
    '/v1/bookings/:id',
    {
      config: { operation: 'booking.read', needs: 'read', capability },
      schema: { summary: 'Read a booking', params: idParams, response: { 200: bookingSchema } },
    },
    async ({ em, actor, params }) => bookingView(config, await loadBooking(em, actor, params.id), clock.now()),
  );

  app.post(
    '/v1/bookings/:id/cancel',
    {
      config: {
        operation: 'booking.cancel',
        needs: 'write',
        ownerOnly: 'cancel a booking where money goes back',
        capability,
        replay: async ({ em, actor }: FastifyRequest, id) => cancelledView(em, deps, await loadBooking(em, actor, id)),
      },
      schema: {
        summary: 'Cancel a booking',
        description:
          'Releases the seats and refunds the payment, as `refund` says. ' +
          '`mail` and `notice` say which e-mails about the cancellation are sent to the visitor and to notify_to. The visitor gets one only if ' +
          'they asked for it. Otherwise next_action says who has to tell them, and how.',
        params: idParams,
        response: { 200: cancelledBookingSchema },
      },
    },
    async ({ em, actor, params, attempt }) => {
      const found = await loadBooking(em, actor, params.id);
      // An earlier run of this request cancelled it, and its answer was lost.
      if (attempt?.state === 'resumed' && found.status === 'cancelled') return await cancelledView(em, deps, found);
      const { booking } = await cancelBooking(em, deps, found, actor);
      return await cancelledView(em, deps, booking);
    },
  );
}

async function bookableView(
  em: EntityManager,
  { config, clock }: Deps,
  { site, bookable, calendars }: DeclaredTimetable,
) {
  const priced = bookable.services.filter(({ price }) => price).map(({ key }) => key);
  const isBookable =
    priced.length === 0 || bookable.endedAt || (await activePayoutAccount(em, { config }, site)) !== null;
  const nextAction = isBookable
    ? {}
    : {
        next_action: `This site cannot accept payments yet, so services with a price (${priced.join(', ')}) cannot be booked. Attach one of the owner’s payout accounts (${call('payout.list')}; a first one is added with ${call('payout.add')}) with ${call('payout_agreement.attach', { id: site })}.`,
      };
  return {
    site_id: site.id,
    status: bookable.endedAt ? ('ended' as const) : ('open' as const),
    public_id: site.publicId,
    url: `${config.baseUrl}/b/${site.publicId}`,
    embed: bookingEmbed(config.baseUrl, site.publicId),
    calendars: calendars.map(calendarOf),
    services: bookable.services.map(serviceOf),
    fallback: bookable.fallback ?? null,
    notify_to: await notifyAddress(em, site, bookable.notifyCollaboratorId),
    notify_options: await notifyOptions(em, site),
    reply_to: await replyAddress(em, site, bookable.replyToId),
    mail: config.mail ? ('sent' as const) : ('not_configured' as const),
    live_bookings: await em.count(Booking, { site, kind: 'booking', ...liveBookings(clock.now()) }),
    declared_at: bookable.declaredAt,
    ended_at: bookable.endedAt ?? null,
    ...nextAction,
  };
}
