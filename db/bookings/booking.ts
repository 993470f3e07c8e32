import { defineEntity, type InferEntity, type Loaded, p } from '@mikro-orm/core';
import type { SubmittedValue } from '#db/forms/submission.ts';
import { Mail } from '#db/mail/mail.ts';
import { Site } from '#db/sites/site.ts';
import type { BookingStatus } from '#rules/states.ts';
import { BookingCalendar } from './bookable.ts';

export const bookingKinds = ['booking', 'block'] as const;
export type BookingKind = (typeof bookingKinds)[number];

/**
 * A visitor's booking, one that the site's people made, or time that they block. `expired` may be written late: use `bookingStatusAt`. The row stores only a keyed hash of the
 * visitor's address.
 */
export const Booking = defineEntity({
  name: 'Booking',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    calendar: () => p.manyToOne(BookingCalendar),
    kind: p.text().$type<BookingKind>().default('booking'),
    /** The account that made it for the site; null where a visitor made it. */
    createdById: p.text().nullable(),
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
    /** Those of the service; use `whereaboutsOf`. */
    place: p.text().nullable(),
    link: p.text().nullable(),
    intake: p.json().$type<SubmittedValue[]>(),
    /** What the whole booking costs. */
    price: p.json().$type<{ amount: number; currency: string }>().nullable(),
    paymentId: p.text().nullable(),
    /** Whether a checkout session may be open: the seat then stays reserved past `holdExpiresAt`. */
    paying: p.boolean().default(false),
    holdExpiresAt: p.datetime().nullable(),
    cancelHash: p.blob(),
    /** The newest mail to the visitor; after a cancellation, the one about it. */
    mail: () => p.manyToOne(Mail).nullable(),
    /** The newest mail to the site's address for booking notices. */
    notice: () => p.manyToOne(Mail).nullable(),
    /** When the visitor's reminder is queued; null if none is wanted, or once it is queued. */
    remindAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    cancelledAt: p.datetime().nullable(),
    /** How often it was moved: the SEQUENCE of its calendar file. */
    moves: p.integer().default(0),
    /** How often its visitor moved it. */
    visitorMoves: p.integer().default(0),
    movedAt: p.datetime().nullable(),
    /** The account that moved it last; null where the visitor did. */
    movedById: p.text().nullable(),
  },
});
export type Booking = InferEntity<typeof Booking>;
export type WholeBooking = Loaded<Booking, 'calendar'>;
