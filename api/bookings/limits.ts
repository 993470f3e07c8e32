/**
 * How many bookings a visitor may have, a site may get in a minute, its people may move in an hour, and how often a visitor moves one. The caller holds the lock of a calendar, and takes
 * that of the site's bookings here.
 */

import { notAPerson, requireUnused, type Solved } from '#api/visitors/challenges.ts';
import { Booking } from '#db/bookings/booking.ts';
import { bookingsWithStatus, liveBookings } from '#db/bookings/seats.ts';
import { HistoryEntry } from '#db/history/history-entry.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { call } from '#rules/calls/calls.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** Live holds per visitor: enough for a family, too few to block a timetable. */
const holdsMax = 5;
/** Live bookings without a price, per visitor and site. Scaled by `FRONTAGE_RATE_SCALE`. */
const freeMax = 5;
/** Bookings of a site, beyond which the next ones need a solved challenge. Scaled by `FRONTAGE_RATE_SCALE`. */
const perMinute = 10;
/** Moves of a site, each of which may e-mail the person who is notified. Scaled by `FRONTAGE_RATE_SCALE`. */
const movesPerHour = 60;
/** How often a visitor moves one booking. */
const visitorMovesMax = 10;

export const challenged = { what: 'The booking', call: call('offer.challenge') } as const;

type Visitor = { now: Date; hash: Buffer };

/** Bookings of a site are counted one after the other, whichever calendar they are for. */
export async function lockBookingsOf(tx: EntityManager, { id }: Pick<Site, 'id'>): Promise<void> {
  await lockInTransaction(tx, `bookings of ${id}`);
}

/** Throws `not_a_person`; `rate_limited` where no challenge is configured. The bookings of the site are locked. */
export async function requirePersonIfBusy(
  tx: EntityManager,
  { config }: Pick<Deps, 'config'>,
  site: Pick<Site, 'id'>,
  { now, solved }: { now: Date; solved: Solved | undefined },
): Promise<void> {
  const [nth] = await tx.execute<{ created_at: string | Date }[]>(
    'select created_at from booking where site_id = ? and created_by_id is null order by id desc offset ? limit 1',
    [site.id, Math.ceil(perMinute * config.rateScale) - 1],
  );
  const waitMs = nth ? new Date(nth.created_at).getTime() + minuteMs - now.getTime() : 0;
  if (waitMs <= 0) return;
  if (solved) return await requireUnused(tx, solved, challenged);
  const message = 'This website is getting many bookings at the moment.';
  if (config.challenge) throw notAPerson(`${message} The solved challenge is missing.`, challenged);
  throw tooMany(now, new Date(now.getTime() + waitMs), {
    message,
    nextAction: 'Send the same call again in a minute.',
  });
}

/** Throws `rate_limited`. The bookings of the site are locked. */
export async function requireFewFreeBookings(
  tx: EntityManager,
  { config }: Pick<Deps, 'config'>,
  site: Pick<Site, 'id'>,
  { now, hash }: Visitor,
): Promise<void> {
  const max = Math.ceil(freeMax * config.rateScale);
  const where = { site: site.id, visitorHash: hash, createdById: null, paymentId: null, ...liveBookings(now) };
  const live = await tx.find(Booking, where as never, { orderBy: { endsAt: 'asc' }, limit: max });
  if (live.length < max) return;
  throw tooMany(now, live[0]?.endsAt, {
    message: `The visitor has reached the limit of ${max} bookings on this website that have not ended.`,
    nextAction: 'Cancel one of the bookings with the link in its e-mail, or wait until one has ended.',
  });
}

/** Throws `rate_limited`. */
export async function requireFewHolds(tx: EntityManager, { now, hash }: Visitor): Promise<void> {
  // Concurrent calls of one visitor may be for different sites.
  await tx.execute('select pg_advisory_xact_lock(?::bigint)', [hash.readBigInt64BE().toString()]);
  const held = await tx.find(Booking, { visitorHash: hash, ...bookingsWithStatus('held', now) } as never, {
    orderBy: { holdExpiresAt: 'asc' },
    limit: holdsMax,
  });
  if (held.length < holdsMax) return;
  throw tooMany(now, held[0]?.holdExpiresAt, {
    message: `The visitor has reached the limit of ${holdsMax} unpaid bookings.`,
    nextAction: 'Pay for one of the bookings, or wait until one expires.',
  });
}

/** Throws `rate_limited`. The bookings of the site are locked. */
export async function requireFewMoves(
  tx: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  site: Pick<Site, 'id'>,
): Promise<void> {
  const limit = Math.ceil(movesPerHour * config.rateScale);
  await requireBelowHourlyLimit(clock, {
    limit,
    message: `The limit of ${limit} moves of this site’s bookings per hour has been reached.`,
    async createdAt(since, offset) {
      const moved = { siteId: site.id, action: 'booking.moved', at: { $gt: since } } as const;
      return (await tx.find(HistoryEntry, moved, { orderBy: { at: 'desc' }, offset, limit: 1 }))[0]?.at;
    },
  });
}

/** For a visitor, whom no other limit of moves knows. Throws `not_cancellable`. */
export function requireMovedSeldom({ visitorMoves }: Pick<Booking, 'visitorMoves'>): void {
  if (visitorMoves < visitorMovesMax) return;
  throw errors.not_cancellable(
    'You have moved this booking many times already. Please ask the website’s owner for another time.',
  );
}

function tooMany(
  now: Date,
  until: Date | null | undefined,
  { message, nextAction }: { message: string; nextAction: string },
): AppError {
  const waitMs = (until ?? now).getTime() - now.getTime();
  return errors.rate_limited(message, { nextAction, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}
