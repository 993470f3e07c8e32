import { defineEntity, type InferEntity, type Loaded, p } from '@mikro-orm/core';
import type { SubmittedValue } from '#db/forms/submission.ts';
import { Mail } from '#db/mail/mail.ts';
import { Site } from '#db/sites/site.ts';
import type { BookingStatus } from '#rules/states.ts';
import { BookingCalendar } from './bookable.ts';

/**
 * A visitor's booking. `expired` may be written late: use `bookingStatusAt`. The row stores only a keyed hash of the
 * visitor's address.
 */
export const Booking = defineEntity({
  name: 'Booking',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    calendar: () => p.manyToOne(BookingCalendar),
    /** A reference for the visitor and the owner. */
    reference: p.text(),
    status: p.text().$type<BookingStatus>(),
    serviceKey: p.text(),
    serviceName: p.text(),
    startsAt: p.datetime(),
    endsAt: p.datetime(),
    busyFrom: p.datetime(),
    busyUntil: p.datetime(),
    seats: p.integer(),
    visitorName: p.text(),
    visitorHash: p.blob(),
    visitorSealed: p.blob().nullable(),
    intake: p.json().$type<SubmittedValue[]>(),
    price: p.json().$type<{ amount: number; currency: string }>().nullable(),
    paymentId: p.text().nullable(),
    /** Whether a checkout session may be open: the seat then stays reserved past `holdExpiresAt`. */
    paying: p.boolean().default(false),
    holdExpiresAt: p.datetime().nullable(),
    cancelHash: p.blob(),
    /** The mail to the visitor. */
    mail: () => p.manyToOne(Mail).nullable(),
    createdAt: p.datetime(),
    cancelledAt: p.datetime().nullable(),
  },
});
export type Booking = InferEntity<typeof Booking>;
export type WholeBooking = Loaded<Booking, 'calendar'>;
