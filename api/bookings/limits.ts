/** How many bookings one visitor may have. The caller holds the lock of a calendar, and takes that of the site here. */
import { Booking } from '#db/bookings/booking.ts';
import { bookingsWithStatus, liveBookings } from '#db/bookings/seats.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** Live holds per visitor: enough for a family, too few to block a timetable. */
const holdsMax = 5;
/** Live bookings without a price, per visitor and site. Scaled by `FRONTAGE_RATE_SCALE`. */
const freeMax = 5;

type Visitor = { now: Date; hash: Buffer };

/** Bookings of a site are counted one after the other, whichever calendar they are for. */
export async function lockBookingsOf(tx: EntityManager, { id }: Pick<Site, 'id'>): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`bookings of ${id}`]);
}

/** Throws `rate_limited`. The bookings of the site are locked. */
export async function requireFewFreeBookings(
  tx: EntityManager,
  { config }: Pick<Deps, 'config'>,
  site: Pick<Site, 'id'>,
  { now, hash }: Visitor,
): Promise<void> {
  const max = Math.ceil(freeMax * config.rateScale);
  const where = { site: site.id, visitorHash: hash, paymentId: null, ...liveBookings(now) };
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

function tooMany(
  now: Date,
  until: Date | null | undefined,
  { message, nextAction }: { message: string; nextAction: string },
): AppError {
  const waitMs = (until ?? now).getTime() - now.getTime();
  return errors.rate_limited(message, { nextAction, retryAfterSeconds: Math.max(1, Math.ceil(waitMs / 1000)) });
}
