/** Requests and responses of a site's visitors. No token: the public id identifies the site. */

import { z } from 'zod';
import { fieldAnswer } from '#api/forms/fields.ts';
import { instant, plainName } from '#api/schemas.ts';
import { call } from '#rules/calls/calls.ts';
import { priceAnswer } from './offer-schemas.ts';

export const publicParams = z.object({ public_id: z.string().max(64).describe('The `public_id` of the site.') });

const serviceKey = z.string().max(64).describe('The key of a service.');
const calendarKey = z
  .string()
  .max(64)
  .optional()
  .describe('The key of one of the service’s calendars. Optional if the service has only one.');
const date = z.string().max(10).describe('YYYY-MM-DD, in the calendar’s time zone.');

export const daysQuery = z.strictObject({
  service: serviceKey,
  calendar: calendarKey,
  from: date.optional(),
  to: date.optional(),
});
export const slotsQuery = z.strictObject({ service: serviceKey, calendar: calendarKey, date });

export const daysAnswer = z
  .object({ days: z.array(z.object({ date: z.string(), open_slots: z.number().int() })) })
  .meta({ id: 'OpenDays' });
export const slotsAnswer = z
  .object({
    time_zone: z.string(),
    slots: z.array(z.object({ start: z.string(), end: z.string(), seats_left: z.number().int() })),
  })
  .meta({ id: 'OpenSlots' });

const answer = z.union([z.string().max(20_000), z.number(), z.boolean()]);
/** What a visitor wants to be e-mailed about. */
export const wishes = {
  notify_changes: z
    .boolean()
    .default(false)
    .describe('Whether to e-mail the visitor if the booking changes or is cancelled.'),
  remind: z
    .boolean()
    .default(false)
    .describe('Whether to e-mail the visitor a reminder 24 hours before the start. A later booking gets none.'),
};

export const newBookingBody = z.strictObject({
  service: serviceKey,
  calendar: calendarKey,
  start: instant.describe('The `start` of a slot, with its UTC offset.'),
  seats: z.int().min(1).max(10_000).default(1),
  visitor: z.strictObject({
    name: plainName(100),
    email: z.string().max(320),
    ...wishes,
    time_zone: z
      .string()
      .max(64)
      .optional()
      .describe('The visitor’s own IANA time zone. E-mails repeat the time in it. An unknown one is ignored.'),
  }),
  intake: z
    .record(z.string().max(64), z.union([answer, z.array(answer).max(100)]))
    .default({})
    .describe('Answers, keyed by the names of the service’s intake fields.'),
  altcha: z
    .string()
    .max(4_000)
    .optional()
    .describe(`The solved challenge of ${call('offer.challenge')}, after the error not_a_person.`),
});

const hasLink = z
  .boolean()
  .describe('Whether it takes place at a link, which the visitor gets when the booking is confirmed.');

export const descriptionAnswer = z
  .object({
    site: z.object({ title: z.string(), address: z.string() }),
    services: z.array(
      z.object({
        key: z.string(),
        name: z.string(),
        duration_minutes: z.number().int(),
        calendar_keys: z.array(z.string()),
        seats_max: z.number().int(),
        place: z.string().nullable().describe('Where it takes place; null without has_link: where its calendar says.'),
        has_link: hasLink,
        lead_minutes: z.number().int(),
        horizon_days: z.number().int(),
        price: priceAnswer,
        open: z
          .boolean()
          .describe(
            'Whether the service can be booked now. False if it has a price and the site cannot accept payments.',
          ),
        intake: z.array(fieldAnswer),
      }),
    ),
    calendars: z.array(
      z.object({
        key: z.string(),
        name: z.string(),
        time_zone: z.string(),
        place: z.string().nullable(),
        has_link: hasLink,
      }),
    ),
    notices: z.boolean().describe('Whether visitors can ask for e-mails about changes and for a reminder.'),
    how_to_book: z
      .array(z.object({ step: z.string(), method: z.string(), url: z.string(), body: z.unknown().optional() }))
      .describe('The calls to make, in order. Replace the parts in braces.'),
  })
  .meta({ id: 'Bookables' });
