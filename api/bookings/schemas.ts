import type { Loaded } from '@mikro-orm/core';
import { z } from 'zod';
import { fieldAnswer, intakeFields } from '#api/forms/fields.ts';
import { formTexts } from '#api/forms/texts.ts';
import { mailStatus, shownMailStatus } from '#api/mail-status.ts';
import { pageQuery } from '#api/pagination.ts';
import { payUrl } from '#api/payments/schemas.ts';
import { instant, moment, plainName } from '#api/schemas.ts';
import { type Booking, bookingKinds } from '#db/bookings/booking.ts';
import type { FormField } from '#db/forms/form.ts';
import { farthestDays } from '#rules/bookings/bounds.ts';
import type { Timetable } from '#rules/bookings/faults.ts';
import { whereaboutsOf } from '#rules/bookings/places.ts';
import { isoLocal } from '#rules/bookings/time-zones.ts';
import { bookingStatusAt, bookingStatuses } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import { calendarAnswer, calendarSchema, key } from './calendar-schemas.ts';
import { moneyAnswer, price, priceAnswer, whereabouts, whereaboutsAnswer } from './offer-schemas.ts';

const minutes = (min: number, max: number) => z.int().min(min).max(max);

const serviceSchema = z
  .strictObject({
    key,
    name: plainName(120),
    duration_minutes: minutes(5, 1440),
    calendar_keys: z
      .array(z.string())
      .min(1)
      .max(50)
      .describe('Keys of the calendars in which the service can be booked.'),
    step_minutes: minutes(5, 4320)
      .optional()
      .describe('Minutes between the start of one slot and the next. The default is the duration with both buffers.'),
    buffer_before_minutes: minutes(0, 1440)
      .default(0)
      .describe('How many minutes the calendar is kept free before a booking.'),
    buffer_after_minutes: minutes(0, 1440)
      .default(0)
      .describe('How many minutes the calendar is kept free after a booking.'),
    lead_minutes: minutes(0, 525_600)
      .default(0)
      .describe('Minimum number of minutes between making a booking and its start.'),
    horizon_days: z
      .int()
      .min(1)
      .max(farthestDays)
      .default(60)
      .describe('Maximum number of days in advance that the service can be booked.'),
    seats_max: z.int().min(1).max(10_000).default(1).describe('Maximum number of seats in one booking.'),
    price: price.nullable().optional().describe('What visitors pay in advance. null: nothing.'),
    ...whereabouts,
    hold_minutes: minutes(5, 1440)
      .default(30)
      .describe('How many minutes seats are held for a visitor who has not paid yet; at most until the booking ends.'),
    intake: intakeFields.default([]).describe('Questions for visitors, in addition to their name and e-mail address.'),
  })
  .meta({ id: 'Service' });

export const bookableInput = z.strictObject({
  reply_to: z
    .string()
    .nullable()
    .optional()
    .describe(
      'The address to which visitors reply to e-mails, one of notify_options. They see it. null, the default: none. If it is left out, it stays as it is.',
    ),
  calendars: z.array(calendarSchema).min(1).max(50),
  services: z.array(serviceSchema).min(1).max(100),
  notify_to: z
    .string()
    .optional()
    .describe('The address that receives e-mails about bookings. The default is the owner’s.'),
  fallback: formTexts.fallback
    .optional()
    .describe(
      'What a visitor without JavaScript reads on the booking page, such as a telephone number. Absent: it stays as it is.',
    ),
  confirm: z
    .boolean()
    .default(false)
    .describe('Whether to save the timetable even if active bookings conflict with it.'),
});
export type BookableInput = z.output<typeof bookableInput>;

/** What changes without another timetable. */
export const bookableChange = bookableInput.pick({ notify_to: true, reply_to: true, fallback: true });
export type BookableChange = z.output<typeof bookableChange>;

type Lengths = Pick<
  BookableInput['services'][number],
  'duration_minutes' | 'buffer_before_minutes' | 'buffer_after_minutes'
>;
/** Bookings of consecutive slots do not disturb each other. */
const usualStep = (service: Lengths): number =>
  service.duration_minutes + service.buffer_before_minutes + service.buffer_after_minutes;

/** The timetable as stored, with every default filled in. */
export function timetableOf({
  calendars,
  services,
}: Pick<BookableInput, 'calendars' | 'services'>): Timetable<FormField> {
  return {
    calendars,
    services: services.map((service) => ({
      ...service,
      step_minutes: service.step_minutes ?? usualStep(service),
      price: service.price ?? null,
    })),
  };
}

const serviceAnswer = z.object({
  key: z.string(),
  name: z.string(),
  duration_minutes: z.number().int(),
  calendar_keys: z.array(z.string()),
  step_minutes: z.number().int(),
  buffer_before_minutes: z.number().int(),
  buffer_after_minutes: z.number().int(),
  lead_minutes: z.number().int(),
  horizon_days: z.number().int(),
  seats_max: z.number().int(),
  price: priceAnswer,
  hold_minutes: z.number().int(),
  ...whereaboutsAnswer,
  intake: z.array(fieldAnswer),
});

export const bookableSchema = z
  .object({
    site_id: z.string(),
    status: z.enum(['open', 'ended']),
    public_id: z.string(),
    url: z
      .string()
      .describe(
        'The URL where visitors and their agents can view and book the services: a page in a browser, JSON for programs.',
      ),
    embed: z.string().describe('HTML that embeds the booking widget in a page of the site.'),
    calendars: z.array(calendarAnswer),
    services: z.array(serviceAnswer),
    fallback: z.string().nullable(),
    notify_to: z.string(),
    notify_options: z.array(z.string()).describe('The allowed values of notify_to and reply_to.'),
    mail: z.enum(['sent', 'not_configured']).describe('Whether e-mails about bookings are sent.'),
    reply_to: z.string().nullable().describe('Reply-To of e-mails to visitors. null: none.'),
    live_bookings: z.number().int().describe('Number of active bookings: those that are valid and have not ended yet.'),
    declared_at: moment,
    ended_at: moment.nullable(),
    next_action: z.string().optional(),
  })
  .meta({ id: 'Bookable' });

export const bookingSchema = z
  .object({
    id: z.string(),
    kind: z.enum(bookingKinds).describe('`block`: time that the site’s people keep free of bookings.'),
    reference: z.string().describe('A reference that the visitor and the owner can quote.'),
    status: z.enum(bookingStatuses),
    service: z.string().nullable().describe('The key of the service; null for a block.'),
    calendar: z.string().describe('The key of the calendar.'),
    start: z.string().describe('A local time with the UTC offset of the calendar’s time zone.'),
    end: z.string(),
    seats: z.number().int(),
    place: z.string().nullable().describe('Where it takes place.'),
    link: z.string().nullable().describe('The URL at which a confirmed booking takes place.'),
    visitor: z
      .object({ name: z.string() })
      .nullable()
      .describe('The visitor’s e-mail address is stored only as a hash. Null if the site’s people named no visitor.'),
    created_by: z.string().nullable().describe('The account that made it for the site; null if the visitor made it.'),
    intake: z.record(z.string(), z.union([z.string(), z.array(z.string())])),
    price: moneyAnswer.nullable().describe('What the whole booking costs. null: nothing.'),
    payment_id: z.string().nullable(),
    pay_url: z
      .string()
      .nullable()
      .describe('The URL where the visitor can pay while the seats are held; otherwise null.'),
    hold_expires_at: moment.nullable().describe('Of a booking that is held, or was until it expired; otherwise null.'),
    mail: mailStatus
      .nullable()
      .describe(
        'Status of the newest e-mail to the visitor; of a cancelled booking, of the one about the cancellation. not_sent: it could not be delivered, or a limit was reached; the booking is valid without it. null: none is sent.',
      ),
    notice: mailStatus
      .nullable()
      .describe('Status of the newest e-mail about the booking to notify_to. null: none is sent.'),
    created_at: moment,
    cancelled_at: moment.nullable(),
    next_action: z.string().optional(),
  })
  .meta({ id: 'Booking' });

export const bookingsQuery = pageQuery.extend({
  status: z.enum(bookingStatuses).optional(),
  kind: z.enum(bookingKinds).optional(),
  since: instant.optional().describe('Only bookings made at or after this RFC 3339 time.'),
  from: instant.optional().describe('Only bookings that end after this time.'),
  to: instant.optional().describe('Only bookings that start before this time.'),
});

export type ShownBooking = Loaded<Booking, 'calendar' | 'mail' | 'notice'>;
export const shown = { populate: ['calendar', 'mail', 'notice'] } as const;

/** As the site’s people see it. */
export function bookingView(config: Config, booking: ShownBooking, now: Date): z.output<typeof bookingSchema> {
  const { calendar, paymentId, holdExpiresAt } = booking;
  const status = bookingStatusAt(booking, now);
  const { place, link } = whereaboutsOf(booking, calendar);
  const isToPay = status === 'held' && holdExpiresAt && holdExpiresAt > now;
  return {
    id: booking.id,
    kind: booking.kind,
    reference: booking.reference,
    status,
    service: booking.serviceKey || null,
    calendar: calendar.key,
    start: isoLocal(calendar.timeZone, booking.startsAt.getTime()),
    end: isoLocal(calendar.timeZone, booking.endsAt.getTime()),
    seats: booking.seats,
    place,
    link: status === 'confirmed' ? link : null,
    visitor: booking.visitorName ? { name: booking.visitorName } : null,
    created_by: booking.createdById ?? null,
    intake: Object.fromEntries(booking.intake),
    price: booking.price ?? null,
    payment_id: paymentId ?? null,
    pay_url: isToPay && paymentId ? payUrl(config, paymentId) : null,
    hold_expires_at: status === 'held' || status === 'expired' ? (holdExpiresAt ?? null) : null,
    mail: booking.mail ? shownMailStatus(booking.mail) : null,
    notice: booking.notice ? shownMailStatus(booking.notice) : null,
    created_at: booking.createdAt,
    cancelled_at: booking.cancelledAt ?? null,
    ...(status === 'held'
      ? {
          next_action: isToPay
            ? `The visitor has until ${holdExpiresAt.toISOString()} to pay at pay_url. The time is reserved until then, and is released if it is not paid.`
            : 'The payment deadline has passed. The platform is checking whether the booking was paid for. Read the booking again in a minute.',
        }
      : {}),
  };
}

/** For the visitor who has just made it, and pays it themselves. */
export function takenBookingView(config: Config, booking: ShownBooking, now: Date): z.output<typeof bookingSchema> {
  const view = bookingView(config, booking, now);
  if (view.pay_url === null) return view;
  return { ...view, next_action: 'Pay at pay_url before hold_expires_at, then read the booking: it is confirmed.' };
}
