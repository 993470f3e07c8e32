/** Bookings and blocks of the site's people. */

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { idParams, instant, plainName } from '#api/schemas.ts';
import { bookingKinds } from '#db/bookings/booking.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { newSecret } from '#runtime/ids.ts';
import { loadBooking } from './cancellation.ts';
import { moveBooking } from './moving.ts';
import { choiceOf } from './offers.ts';
import { createOwnBooking, isOffered, placeOf } from './own-bookings.ts';
import { bookingSchema, bookingView, type ShownBooking } from './schemas.ts';
import { declaredOf } from './timetable.ts';
import { howToNotify, isMoveUnnotified } from './unnotified-visitors.ts';
import { wishes } from './visitor-schemas.ts';

const ownBookingInput = z.strictObject({
  kind: z
    .enum(bookingKinds)
    .describe('`booking`: of a service, for a person. `block`: time that is to be kept free of bookings.'),
  calendar: z.string().max(64).describe('The key of the calendar.'),
  start: instant,
  end: instant.optional().describe('Of a block: at most 4 days after its start.'),
  service: z.string().max(64).optional().describe('Of a booking: the key of the service, which sets the duration.'),
  seats: z
    .int()
    .min(1)
    .max(10_000)
    .optional()
    .describe('The default is 1 for a booking, and all seats of the calendar for a block.'),
  visitor: z
    .strictObject({ name: plainName(100), email: z.string().max(320).optional(), ...wishes })
    .optional()
    .describe(
      'Of a booking: who comes. A person with an address receives the same e-mails as one who books on the website. Set notify_changes and remind only if that person wishes so; both need the address.',
    ),
});

const moveInput = z.strictObject({
  start: instant,
  calendar: z.string().max(64).optional().describe('The key of a calendar. The default is the booking’s.'),
  seats: z.int().min(1).max(10_000).optional().describe('The default is the booking’s.'),
});

export function ownBookingRoutes(app: Api, deps: Deps): void {
  const { config, clock } = deps;
  const capability = 'bookings' as const;

  app.post(
    '/v1/sites/:id/bookings',
    {
      config: {
        operation: 'booking.create',
        needs: 'write',
        capability,
        makes: 'book',
        invalid: {
          calendar: 'invalid_calendar',
          service: 'invalid_service',
          start: 'invalid_slot',
          end: 'invalid_slot',
          visitor: 'invalid_visitor',
        },
        replay: async ({ em, actor }: FastifyRequest, id) => view(em, await loadBooking(em, actor, id)),
      },
      schema: {
        summary: 'Add a booking or block time',
        description:
          `For the site’s own people: a booking that was made by telephone, or time that they keep free. Seats are never oversold. Free times: ${call('offer.days')}. ` +
          `To close whole days, set \`exceptions\` of the calendar with ${call('bookable.declare')}. ` +
          'The time may be outside the hours and steps of the timetable, sooner than its lead time and later than its horizon. ' +
          'Nothing is charged, even if the service has a price: to book as a visitor who pays, open the `url` of the timetable. Only a person whose address is given receives an e-mail.',
        params: idParams,
        body: ownBookingInput,
        response: { 200: bookingSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const made = { id: request.newId('book'), cancelSecret: newSecret('frc') };
      return await view(em, await createOwnBooking(em, deps, actor, params.id, { ...body, ...made }));
    },
  );

  app.post(
    '/v1/bookings/:id/move',
    {
      config: {
        operation: 'booking.move',
        needs: 'write',
        capability,
        invalid: { start: 'invalid_slot', calendar: 'invalid_calendar' },
        recordsOnce: true,
        replay: async ({ em, actor }: FastifyRequest, id) => {
          return movedView(em, await loadBooking(em, actor, id));
        },
      },
      schema: {
        summary: 'Move a booking',
        description:
          'To another time, calendar of its service, or number of seats. Service, price, payment and reference stay as they are. A visitor’s ' +
          'booking needs a start that the timetable offers; its lead time and horizon do not matter. A block keeps its length. ' +
          `${call('offer.slots')} lists the free starts of a day. notify_to is ` +
          'e-mailed, and the visitor if they asked for it or their confirmation is unsent; otherwise next_action says who has to tell them.',
        params: idParams,
        body: moveInput,
        response: { 200: bookingSchema },
      },
    },
    async ({ em, actor, params, body }) => {
      const found = await loadBooking(em, actor, params.id);
      return await movedView(em, await moveBooking(deps, actor, found, body));
    },
  );

  /** A repeated call, perhaps because its response was lost, gets the same response. */
  async function movedView(em: EntityManager, booking: ShownBooking) {
    const shown = bookingView(config, booking, clock.now());
    const isLive = shown.status === 'held' || shown.status === 'confirmed';
    if (!isLive || !isMoveUnnotified(booking)) return shown;
    const what = `the new time of booking ${booking.reference}`;
    return { ...shown, next_action: await howToNotify(em, booking, { about: 'the move', what }) };
  }

  async function view(em: EntityManager, booking: ShownBooking) {
    const shown = bookingView(config, booking, clock.now());
    return (await isUsual(em, booking)) ? shown : { ...shown, next_action: unusual(booking) };
  }

  /** Whether a visitor could have booked this. */
  async function isUsual(em: EntityManager, booking: ShownBooking): Promise<boolean> {
    const { kind, status, startsAt: start, serviceKey: service, calendar } = booking;
    if (kind === 'block' || status !== 'confirmed') return true;
    const declared = await declaredOf(em, booking.site);
    if (!declared || !choiceOf(declared, booking)) return true;
    return isOffered(placeOf(declared, { kind, calendar: calendar.key, start, service }), clock.now());
  }
}

const unusual = ({ id }: ShownBooking) =>
  'The timetable does not offer this time to visitors: it is outside the hours or between two starts. If you did not intend that, ' +
  `cancel the booking with ${call('booking.cancel', { id })}, or move it with ${call('booking.move', { id })}.`;
