/** Calls of visitors' browsers and agents, from the site's own pages or from no page at all. */
import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { sendErrorAsAsked } from '#api/front/error-handlers.ts';
import { namesHtml } from '#api/front/representation.ts';
import { activePayoutAccount } from '#api/payments/payout-destination.ts';
import { allowOrigins, originsToCompare, requireOwnOrigin } from '#api/visitors/origins.ts';
import { Booking } from '#db/bookings/booking.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newSecret } from '#runtime/ids.ts';
import { sendBookingPage } from './booking-page.ts';
import { createBooking } from './creation.ts';
import { describeBookable } from './description.ts';
import { choose, openDays, openSlots, openTimetable, siteOf } from './offers.ts';
import { bookingSchema, shown, takenBookingView } from './schemas.ts';
import {
  daysAnswer,
  daysQuery,
  descriptionAnswer,
  newBookingBody,
  publicParams,
  slotsAnswer,
  slotsQuery,
} from './visitor-schemas.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The visited site, and those origins of its pages with which the request's is compared. */
    visited: { site: Site; own: ReadonlySet<string> } | null;
  }
}

/** Loads the site of the path, and lets only its own pages read the response. */
export function visitSite(scope: Api, deps: Deps): void {
  scope.decorateRequest('visited', null);
  scope.addHook('onRequest', async (request, reply) => {
    const { public_id: publicId = '' } = request.params as { public_id?: string };
    const site = await siteOf(request.em, publicId);
    const own = await originsToCompare(request, deps, site);
    request.visited = { site, own };
    reply.header('cache-control', 'no-store');
    if (allowOrigins(request, reply, own)) return reply.code(204).send();
  });
}

/** CORS preflight requests (the Fetch standard), answered by `visitSite`. */
export function preflightRoutes(app: Api): void {
  for (const path of ['/b/:public_id', '/b/:public_id/days', '/b/:public_id/slots', '/b/:public_id/challenge']) {
    app.options(path, { schema: { hide: true } }, () => {});
  }
}

/** The scope of a visitor's Idempotency-Key is the site; a replay shows the booking as it is now. */
export function visitorsOf(request: FastifyRequest): { accountId: string; bearer: string } {
  return { accountId: visited(request).site.publicId, bearer: '' };
}

const visited = (request: FastifyRequest) => {
  if (!request.visited) throw new Error('the route’s site was not loaded');
  return request.visited;
};

/** Days, times, and the description. */
export function offeringRoutes(app: Api, deps: Deps): void {
  const security: [] = [];
  const capability = 'bookings' as const;
  const reading = ({ em }: FastifyRequest) => ({ em, now: deps.clock.now() });
  const invalid = { service: 'invalid_service', calendar: 'invalid_calendar' } as const;

  app.get(
    '/b/:public_id',
    {
      config: { operation: 'offer.read', capability, answers: ['application/json', 'text/html'] },
      errorHandler: (error, request, reply) => void sendErrorAsAsked(error, request, reply),
      schema: {
        summary: 'Read a website’s services and booking instructions',
        description: 'A client whose Accept header names text/html, as browsers’ do, receives the booking page.',
        security,
        params: publicParams,
        response: { 200: descriptionAnswer },
      },
    },
    async (request, reply) => {
      const { site } = visited(request);
      const takesMoney = (await activePayoutAccount(request.em, deps, site)) !== null;
      const declared = await openTimetable(request.em, site);
      if (namesHtml(request))
        return (await sendBookingPage(request.em, deps, declared, { takesMoney, reply })) as never;
      return await describeBookable(request.em, deps.config, declared, takesMoney);
    },
  );

  app.get(
    '/b/:public_id/days',
    {
      config: { operation: 'offer.days', capability, invalid },
      schema: {
        summary: 'List days with available times',
        description: `The first day listed is the next one with a free appointment; ${call('offer.slots')} lists its times. Returns at most 93 days per call. The default range is one month from today. The services and their keys: ${call('bookable.read')}.`,
        security,
        params: publicParams,
        querystring: daysQuery,
        response: { 200: daysAnswer },
      },
    },
    async (request) => {
      const choice = choose(await openTimetable(request.em, visited(request).site), request.query);
      return { days: await openDays(reading(request), choice, request.query) };
    },
  );

  app.get(
    '/b/:public_id/slots',
    {
      config: { operation: 'offer.slots', capability, invalid },
      schema: {
        summary: 'List the available times on a day',
        description: 'Each time has the number of seats that are left.',
        security,
        params: publicParams,
        querystring: slotsQuery,
        response: { 200: slotsAnswer },
      },
    },
    async (request) => {
      const choice = choose(await openTimetable(request.em, visited(request).site), request.query);
      return await openSlots(reading(request), choice, request.query.date);
    },
  );
}

/** The challenge that bookings of a busy site need. */
export function challengeRoutes(app: Api, deps: Deps): void {
  app.get(
    '/b/:public_id/challenge',
    {
      config: { operation: 'offer.challenge', capability: 'bookings' },
      schema: {
        summary: 'Get a challenge for a booking',
        description: 'Needed only after the error `not_a_person`: the website is getting many bookings.',
        security: [],
        params: publicParams,
        response: { 200: z.record(z.string(), z.unknown()) },
      },
    },
    async (request) => {
      const { site } = visited(request);
      if (deps.challenge) return await deps.challenge.issue(site.publicId);
      throw errors.not_found('This platform has no challenges.', {
        nextAction: 'Book without a challenge. After the error rate_limited, wait as long as it says.',
      });
    },
  );
}

/** Creating a booking. */
export function bookingCreationRoutes(app: Api, deps: Deps): void {
  app.post(
    '/b/:public_id',
    {
      config: {
        operation: 'booking.take',
        capability: 'bookings',
        makes: 'book',
        invalid: {
          service: 'invalid_service',
          calendar: 'invalid_calendar',
          start: 'invalid_slot',
          visitor: 'invalid_visitor',
          intake: 'invalid_visitor',
        },
        replay: async (request: FastifyRequest, id) => {
          const booking = await request.em.findOne(Booking, { id, site: visited(request).site }, shown);
          if (!booking) throw errors.not_found('This booking does not exist.');
          return takenBookingView(deps.config, booking, deps.clock.now());
        },
      },
      schema: {
        summary: 'Make a booking',
        description:
          'Books seats for a visitor, who receives an e-mail with a calendar file and a cancellation link. If the service has a price, the seats are held until ' +
          '`hold_expires_at`, and the visitor needs to pay at `pay_url`, which is also e-mailed to them. No token is needed; an Idempotency-Key is accepted.',
        security: [],
        params: publicParams,
        body: newBookingBody,
        response: { 200: bookingSchema },
      },
      // Before the idempotency lookup, so that another site's page learns nothing from it. The booking page is ours.
      onRequest: async (request) => requireOwnOrigin(request, new Set([...visited(request).own, deps.config.baseUrl])),
    },
    async (request) => {
      const made = { id: request.newId('book'), cancelSecret: newSecret('frc') };
      const booking = await createBooking(request.em, deps, visited(request).site, request.body, made);
      return takenBookingView(deps.config, booking, deps.clock.now());
    },
  );
}
