/** Creation of a booking by a visitor. */

import { createHmac } from 'node:crypto';
import { activePayoutAccount } from '#api/payments/payout-destination.ts';
import { payUrl } from '#api/payments/schemas.ts';
import { hashSecret } from '#api/secrets.ts';
import { verifySolution } from '#api/visitors/challenges.ts';
import { Booking } from '#db/bookings/booking.ts';
import { startHold } from '#db/bookings/holds.ts';
import { queueBookingMails, queueHoldMail } from '#db/bookings/mails.ts';
import { countFreeSeats, lockCalendars } from '#db/bookings/seats.ts';
import { encryptContact, type VisitorContact } from '#db/bookings/visitor-contact.ts';
import type { EntityManager } from '#db/orm.ts';
import { startPayment } from '#db/payments/transitions.ts';
import { lockAgreement } from '#db/payouts/credentials.ts';
import { Site } from '#db/sites/site.ts';
import { lockSiteForShare } from '#db/sites/transitions.ts';
import { type Money, totalOf } from '#rules/bookings/prices.ts';
import { slotAt, spansOf, type TimeSlot } from '#rules/bookings/time-slots.ts';
import { call } from '#rules/calls/calls.ts';
import { amountFault } from '#rules/currencies.ts';
import { mailboxOf } from '#rules/mailboxes.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { errors } from '#runtime/errors.ts';
import { newId, newReference } from '#runtime/ids.ts';
import { challenged, lockBookingsOf, requireFewFreeBookings, requireFewHolds, requirePersonIfBusy } from './limits.ts';
import { type Choice, choose, openTimetable } from './offers.ts';
import type { ShownBooking } from './schemas.ts';
import { calendarOf } from './timetable.ts';
import { type ReadVisitor, readVisitor, type VisitorInput } from './visitors.ts';

export type NewBooking = VisitorInput & {
  service: string;
  calendar?: string | undefined;
  /** RFC 3339, of `slots`. */
  start: Date;
  seats: number;
  /** A solved challenge. */
  altcha?: string | undefined;
};

/**
 * Books seats. Concurrent calls wait for the lock of the calendar. A service with a price is held until it is paid.
 * Throws `bookings_unavailable`, `invalid_service`, `invalid_calendar`, `invalid_visitor`, `invalid_slot`, `slot_taken`,
 * `payments_unavailable`, `rate_limited`, `not_a_person`, `provider_error`.
 */
export async function createBooking(
  em: EntityManager,
  deps: Deps,
  publicSite: Site,
  input: NewBooking,
  created: Created,
): Promise<ShownBooking> {
  const { altcha } = input;
  // Before the locks: it can take seconds.
  const solved = altcha === undefined ? undefined : await verifySolution(deps, publicSite.publicId, altcha, challenged);
  return await em.transactional(async (tx) => {
    const { site, service, calendar, visitor } = await lockChoice(tx, deps, publicSite.id, input);
    const contact = { ...visitor.wishes, email: visitor.email, cancelSecret: created.cancelSecret };
    const hash = visitorHash(deps.config.secret, visitor.email);
    requireSeats(service, input.seats);
    const price = service.price && totalOf(service.price, input.seats);
    const payable = price && { price, account: await requirePayable(tx, deps, site, price) };
    const now = deps.clock.now();
    const slot = await requireFreeSlot(tx, now, { service, calendar }, input);
    await lockBookingsOf(tx, site);
    await requirePersonIfBusy(tx, deps, site, { now, solved });
    await (payable ? requireFewHolds(tx, { now, hash }) : requireFewFreeBookings(tx, deps, site, { now, hash }));
    const hold = payable && (await createHold(tx, deps, now, { ...created, site, service, slot, contact, ...payable }));
    const booking = tx.create(Booking, {
      id: created.id,
      site: tx.getReference(Site, site.id),
      calendar,
      ...slotColumns(service, slot, input.seats),
      price,
      visitorName: visitor.name,
      visitorHash: hash,
      intake: visitor.intake,
      cancelHash: hashSecret(created.cancelSecret),
      createdAt: now,
      status: hold ? 'held' : 'confirmed',
      ...hold,
    }) as ShownBooking;
    if (hold) {
      startHold(tx, deps.clock, { id: created.id, site: site.id });
      await queueHoldMail(tx, deps, { booking, site, contact, payUrl: payUrl(deps.config, hold.paymentId) });
    } else await queueBookingMails(tx, deps, { booking, site, contact });
    return booking;
  });
}

export type Created = { id: string; cancelSecret: string };

/** The site, the service and its calendar, locked until the transaction ends, and the validated visitor. */
async function lockChoice(
  tx: EntityManager,
  { config }: Deps,
  siteId: string,
  input: NewBooking,
): Promise<Choice & { site: Site; visitor: ReadVisitor }> {
  const site = await lockSiteForShare(tx, siteId);
  const choice = choose(await openTimetable(tx, site), input);
  const visitor = readVisitor(input, choice.service, Boolean(config.mail));
  await lockCalendars(tx, [choice.calendar.id]);
  // The timetable may have changed while this waited for the lock.
  tx.clear();
  return { ...choose(await openTimetable(tx, site), input), site, visitor };
}

/** The payout account for the price. Throws `payments_unavailable`. */
async function requirePayable(tx: EntityManager, deps: Deps, site: Site, price: Money): Promise<{ id: string }> {
  await lockAgreement(tx, site);
  const account = await activePayoutAccount(tx, deps, site);
  if (account && !amountFault(price)) return account;
  throw errors.payments_unavailable('This service has a price, but the website cannot accept payments at the moment.', {
    nextAction: 'Do not retry. Tell the visitor that the service cannot be booked here at the moment.',
  });
}

/** Throws `invalid_json`. */
function requireSeats({ seats_max: max }: Choice['service'], seats: number): void {
  if (seats > max) throw errors.invalid_json(`This service allows at most ${max} seats in one booking.`);
}

/** The slot at this time, if its seats are free. Throws `invalid_slot`, `slot_taken`. */
async function requireFreeSlot(
  tx: EntityManager,
  now: Date,
  { service, calendar }: Choice,
  { start, seats }: NewBooking,
): Promise<TimeSlot> {
  const nextAction = `Call ${call('offer.slots')} again and choose another time.`;
  const slot = slotAt(service, calendarOf(calendar), start.getTime(), now.getTime());
  if (!slot) throw errors.invalid_slot('This service is not offered at this time.', { nextAction });
  const seatsLeft = await countFreeSeats(tx, now, calendar, spansOf(service).busy(slot.start));
  if (seats <= seatsLeft) return slot;
  throw errors.slot_taken(
    seatsLeft === 0
      ? 'This time is already fully booked.'
      : `Only ${seatsLeft} ${seatsLeft === 1 ? 'seat is' : 'seats are'} left at this time.`,
    { nextAction },
  );
}

function slotColumns(service: Choice['service'], slot: TimeSlot, seats: number) {
  const busy = spansOf(service).busy(slot.start);
  return {
    reference: newReference(),
    serviceKey: service.key,
    serviceName: service.name,
    place: service.place ?? null,
    link: service.link ?? null,
    startsAt: new Date(slot.start),
    endsAt: new Date(slot.end),
    busyFrom: new Date(busy.from),
    busyUntil: new Date(busy.until),
    seats,
  };
}

type Hold = {
  id: string;
  site: Site;
  service: Choice['service'];
  slot: TimeSlot;
  price: Money;
  account: { id: string };
  contact: VisitorContact;
};

/** Creates the payment. Returns the columns of a booking that is held until it is paid. */
async function createHold(
  tx: EntityManager,
  { clock, config }: Deps,
  now: Date,
  { id, site, service, slot, price, account, contact }: Hold,
): Promise<{ visitorSealed: Buffer; holdExpiresAt: Date; paymentId: string }> {
  // A hold ends with the booked time at the latest.
  const holdExpiresAt = new Date(Math.min(now.getTime() + service.hold_minutes * minuteMs, slot.end));
  const owner = { id: newId('pay'), siteId: site.id, payoutAccountId: account.id };
  const payment = startPayment(tx, clock, { ...owner, ...price, reference: null, expiresAt: holdExpiresAt });
  // The booking refers to the payment.
  await tx.flush();
  return { visitorSealed: encryptContact(config.encryptionKeys, id, contact), holdExpiresAt, paymentId: payment.id };
}

/** A keyed hash of the visitor's mailbox: it identifies a visitor without storing the address. */
export function visitorHash(secret: string, email: string): Buffer {
  const key = deriveKey(secret, 'visitor hash');
  return createHmac('sha256', key).update(mailboxOf(email)).digest();
}
