/** Calendar feeds: create, list and revoke them, and what is in one. */

import {
  type Actor,
  findSite,
  loadSite,
  makerOf,
  type Person,
  personOf,
  requireAccessible,
  requireActive,
} from '#api/access.ts';
import { hashSecret } from '#api/secrets.ts';
import { expiryWithin, madeWith } from '#api/tokens/expiry.ts';
import { Account } from '#db/accounts/account.ts';
import { Booking, type WholeBooking } from '#db/bookings/booking.ts';
import { bookingsWithStatus } from '#db/bookings/seats.ts';
import { CalendarFeed, openFeeds } from '#db/calendar-feeds/calendar-feed.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { whereaboutsOf } from '#rules/bookings/places.ts';
import { call } from '#rules/calls/calls.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { type CalendarEvent, calendarFeed } from '#web/mails/calendar-file.ts';

export const secretPrefix = 'frk';

/** Of one site, at a time. */
const feedsMax = 20;
/** Of one feed: bookings that have not ended, the earliest first, and then those that ended at most so long ago. */
const eventsMax = 1_000;
const pastMs = 30 * dayMs;

/** Creates a feed of the site's bookings. Throws `site_archived`, `plan_limit`. */
export async function createFeed(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  siteId: string,
  { id, secret }: { id: string; secret: string },
): Promise<CalendarFeed> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  const now = clock.now();
  const expiresAt = await expiryWithin(em, actor, undefined);
  return await madeWith(em, actor, async (tx) => {
    await lockInTransaction(tx, `calendar feeds of ${siteId}`);
    if ((await tx.count(CalendarFeed, { site: siteId, ...openFeeds(now) })) >= feedsMax) {
      throw errors.plan_limit(`This site already has ${feedsMax} calendar feeds.`, {
        nextAction: `List them with ${call('calendar_feed.list', { id: siteId })}, and revoke those that no calendar uses.`,
      });
    }
    recordAct(tx, clock, actor, 'calendar_feed.created', { site, subject: { id, name: null } });
    const account = tx.getReference(Account, actor.accountId);
    const made = { account, madeBy: makerOf(actor), createdAt: now, expiresAt };
    return tx.create(CalendarFeed, { id, site: tx.getReference(Site, siteId), hash: hashSecret(secret), ...made });
  });
}

/** The feed, if the caller may act on its site. Throws `not_found`. */
export async function loadFeed(em: EntityManager, actor: Person, feedId: string): Promise<CalendarFeed> {
  const feed = isId('feed', feedId) ? await em.findOne(CalendarFeed, { id: feedId }) : null;
  return await requireAccessible(em, actor, feed, { what: 'calendar feed', list: 'calendar_feed.list' });
}

/** Revokes a feed at once. Revoking it again changes nothing. */
export async function revokeFeed(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Person,
  feedId: string,
): Promise<CalendarFeed> {
  const feed = await loadFeed(em, actor, feedId);
  await em.transactional(async (tx) => {
    if ((await tx.nativeUpdate(CalendarFeed, { id: feed.id, endedAt: null }, { endedAt: clock.now() })) === 0) return;
    const site = await tx.findOneOrFail(Site, feed.site.id);
    recordAct(tx, clock, actor, 'calendar_feed.revoked', { site, subject: { id: feed.id, name: null } });
  });
  await em.refresh(feed);
  return feed;
}

/** The feed of a secret, and its site. Throws `not_found` for one that has ended, or whose creator has lost access. */
export async function feedOf(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  secret: string,
): Promise<{ feed: CalendarFeed; site: Site }> {
  const known = new RegExp(`^${secretPrefix}_[\\w-]{43}$`).test(secret);
  const feed = known
    ? await em.findOne(CalendarFeed, { hash: hashSecret(secret), ...openFeeds(clock.now()) }, { populate: ['account'] })
    : null;
  const site = feed && !feed.account.blockedAt && (await findSite(em, personOf(feed.account.id), feed.site.id));
  if (feed && site) return { feed, site };
  throw errors.not_found('There is no calendar at this address. Ask the owner of the website for a new address.');
}

/** The site's calendar file: bookings, holds and blocks. It has no words of visitors but their names. */
export async function fileOf(em: EntityManager, { config, clock }: Deps, site: Site): Promise<string> {
  const now = clock.now();
  const { hostname, address } = await canonicalUrl(em, config, site);
  const bookings = await bookingsAround(em, site, now);
  const uidHost = new URL(config.baseUrl).hostname;
  return calendarFeed(
    `Bookings of ${hostname}`,
    bookings.map((booking) => eventOf(booking, { uidHost, address })),
  );
}

function eventOf(booking: WholeBooking, { uidHost, address }: { uidHost: string; address: string }): CalendarEvent {
  const { kind, serviceName, visitorName, seats, calendar, reference, status } = booking;
  const what = kind === 'block' ? 'Blocked' : [serviceName, visitorName].filter(Boolean).join(': ');
  const { place, link } = kind === 'block' ? noWhereabouts : whereaboutsOf(booking, calendar);
  // As in the API, only a confirmed booking shows its link.
  const shownLink = status === 'confirmed' ? link : null;
  const location = place ?? shownLink ?? calendar.name;
  const details = [
    `Reference ${reference}`,
    ...(location === calendar.name ? [] : [`Calendar: ${calendar.name}`]),
    ...(seats > 1 ? [`${seats} seats`] : []),
  ];
  return {
    uid: `${booking.id}@${uidHost}`,
    stamp: (booking.movedAt ?? booking.createdAt).toISOString(),
    start: booking.startsAt.toISOString(),
    end: booking.endsAt.toISOString(),
    summary: status === 'held' ? `${what} (not paid yet)` : what,
    description: details.join('\n'),
    location,
    url: shownLink ?? address,
    sequence: booking.moves,
    tentative: status === 'held',
  };
}

const noWhereabouts = { place: null, link: null };

/** In order of time. Past bookings, the newest first, fill what those that have not ended leave. */
async function bookingsAround(em: EntityManager, site: Site, now: Date): Promise<WholeBooking[]> {
  const find = (endsAt: object, order: 'asc' | 'desc', limit: number) =>
    em.find(
      Booking,
      { site: site.id, endsAt, $or: [bookingsWithStatus('confirmed', now), bookingsWithStatus('held', now)] },
      { populate: ['calendar'], orderBy: { startsAt: order, id: order }, limit },
    );
  const coming = await find({ $gt: now }, 'asc', eventsMax);
  const left = eventsMax - coming.length;
  const past = left > 0 ? await find({ $gt: new Date(now.getTime() - pastMs), $lte: now }, 'desc', left) : [];
  return [...past.reverse(), ...coming];
}
