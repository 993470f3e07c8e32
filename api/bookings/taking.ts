/** A visitor takes seats. */
import { createHmac } from 'node:crypto';
import { takingAccount } from '#api/payments/taking.ts';
import { hashSecret } from '#api/secrets.ts';
import { Booking } from '#db/bookings/booking.ts';
import { startHold } from '#db/bookings/holds.ts';
import { tellOfBooking } from '#db/bookings/mails.ts';
import { bookingsThatAre, expireDueHolds, lockCalendars, sealReach } from '#db/bookings/seats.ts';
import type { EntityManager } from '#db/orm.ts';
import { openPayment } from '#db/payments/transitions.ts';
import { holdAgreement } from '#db/payouts/credentials.ts';
import { Site } from '#db/sites/site.ts';
import { dayAt, spansOf } from '#rules/bookings/time-slots.ts';
import { amountFault } from '#rules/currencies.ts';
import type { Deps } from '#runtime/deps.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { errors } from '#runtime/errors.ts';
import { newId, newReference } from '#runtime/ids.ts';
import { type Choice, choose, offersIn, openTimetable } from './offering.ts';
import type { ShownBooking } from './schemas.ts';
import { readVisitor, type VisitorInput } from './visitors.ts';

export type TakeInput = VisitorInput & {
  service: string;
  calendar?: string | undefined;
  /** RFC 3339, of `slots`. */
  start: string;
  seats: number;
};

/** Live holds of one visitor: enough for a family, too few to keep a timetable shut. */
export const holdsMax = 5;

/**
 * Takes seats, or says why not. Who comes at the same moment waits for the calendar's row. A service with a price is held, if the site can be
 * paid, until it is.
 * Throws `bookings_unavailable`, `invalid_service`, `invalid_calendar`, `invalid_visitor`, `invalid_slot`, `slot_taken`,
 * `payments_unavailable`, `rate_limited`.
 */
export async function takeBooking(
  em: EntityManager,
  deps: Deps,
  publicSite: Site,
  input: TakeInput,
  made: { id: string; cancelSecret: string },
): Promise<ShownBooking> {
  const { clock, config } = deps;
  return await em.transactional(async (tx) => {
    const site = await standingSite(tx, publicSite.id);
    const choice = choose(await openTimetable(tx, site), input);
    const visitor = readVisitor(input, choice.service);
    await lockCalendars(tx, [choice.calendar.id]);
    // It may have changed until it was ours.
    tx.clear();
    const { service, calendar } = choose(await openTimetable(tx, site), input);
    if (service.price) await holdAgreement(tx, site);
    const account = service.price && (await takingAccount(tx, deps, site));
    if (service.price && (!account || amountFault(service.price))) throw noPayments();
    const now = clock.now();
    await expireDueHolds(tx, now, { calendar: calendar.id });
    const offer = await judge({ em: tx, now }, { service, calendar }, input);
    const { busy } = spansOf(service);
    const hash = visitorHash(config.secret, visitor.email);
    if (service.price) await requireFewHolds(tx, now, hash);
    const reach = { email: visitor.email, cancelSecret: made.cancelSecret };
    const holdExpiresAt = new Date(now.getTime() + service.hold_minutes * 60_000);
    const payment =
      service.price && account
        ? openPayment(tx, clock, {
            id: newId('pay'),
            siteId: site.id,
            payoutAccountId: account.id,
            ...service.price,
            reference: null,
            expiresAt: holdExpiresAt,
          })
        : null;
    // The booking's row names it.
    if (payment) await tx.flush();
    const booking = tx.create(Booking, {
      id: made.id,
      site: tx.getReference(Site, site.id),
      calendar,
      reference: newReference(),
      status: service.price ? 'held' : 'confirmed',
      serviceKey: service.key,
      serviceName: service.name,
      startsAt: new Date(offer.start),
      endsAt: new Date(offer.end),
      busyFrom: new Date(busy(offer.start).from),
      busyUntil: new Date(busy(offer.start).until),
      seats: input.seats,
      visitorName: visitor.name,
      visitorHash: hash,
      intake: visitor.intake,
      price: service.price,
      cancelHash: hashSecret(made.cancelSecret),
      createdAt: now,
      ...(service.price
        ? {
            visitorSealed: sealReach(config.sealing, made.id, reach),
            holdExpiresAt,
            paymentId: payment?.id ?? null,
          }
        : {}),
    }) as ShownBooking;
    if (service.price) startHold(tx, clock, { id: made.id, site: site.id });
    else await tellOfBooking(tx, deps, { booking, site, reach });
    return booking;
  });
}

/** The site, which nobody archives until the transaction ends. */
async function standingSite(tx: EntityManager, id: string): Promise<Site> {
  await tx.execute('select 1 from site where id = ? for share', [id]);
  return await tx.findOneOrFail(Site, { id }, { refresh: true });
}

type Reading = Parameters<typeof offersIn>[0];

async function judge(reading: Reading, choice: Choice, { start, seats }: TakeInput) {
  if (seats > choice.service.seats_max) {
    throw errors.invalid_json(`This service allows at most ${choice.service.seats_max} seats in one booking.`);
  }
  const at = Date.parse(start);
  const day = dayAt(choice.calendar.timeZone, at);
  const offers = await offersIn(reading, choice, { first: day, last: day });
  const offer = offers.find((one) => one.start === at);
  const nextAction = 'Read the slots again: GET /b/{public_id}/slots.';
  if (!offer) throw errors.invalid_slot('This time is not offered.', { nextAction });
  if (offer.seatsLeft >= seats) return offer;
  const left = Math.max(0, offer.seatsLeft);
  throw errors.slot_taken(left === 0 ? 'This time is already booked.' : `This time has only ${left} seats left.`, {
    nextAction,
  });
}

async function requireFewHolds(tx: EntityManager, now: Date, hash: Buffer): Promise<void> {
  // Two calls of one visitor may be for two calendars.
  await tx.execute('select pg_advisory_xact_lock(?::bigint)', [hash.readBigInt64BE().toString()]);
  const held = await tx.find(Booking, { visitorHash: hash, ...bookingsThatAre('held', now) } as never, {
    orderBy: { holdExpiresAt: 'asc' },
    limit: holdsMax,
  });
  if (held.length < holdsMax) return;
  const [first] = held as Booking[];
  const waitMs = (first?.holdExpiresAt?.getTime() ?? now.getTime()) - now.getTime();
  throw errors.rate_limited(`The visitor has reached the limit of ${holdsMax} unpaid bookings.`, {
    nextAction: 'Pay for one of them, or wait until one expires.',
    retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)),
  });
}

/** What is kept of a visitor's address: enough to know it again, with our key alone. */
export function visitorHash(secret: string, email: string): Buffer {
  const key = deriveKey(secret, 'visitor hash');
  return createHmac('sha256', key).update(email).digest();
}

function noPayments() {
  return errors.payments_unavailable(
    'This service has a price, but the website cannot accept payments at the moment.',
    {
      nextAction: 'Stop, and show that the service cannot be booked here.',
    },
  );
}
