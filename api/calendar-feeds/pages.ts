/** Calendar feeds on the account's page of agents, and the page that revokes one. */
import { type Person, sitesOf } from '#api/access.ts';
import { askedAction } from '#api/console/actions.ts';
import { type Console, frameOf } from '#api/console/frame.ts';
import { CalendarFeed, openFeeds } from '#db/calendar-feeds/calendar-feed.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { calendarFeedRevocationPage } from '#web/console/agent.ts';
import type { CalendarFeedShown } from '#web/pages/access-lists.ts';
import { loadFeed } from './feeds.ts';

const shownMax = 50;

export function calendarFeedPages(console: Console): void {
  const { deps } = console;
  askedAction(console, {
    page: 'calendar_feed_revoke',
    path: '/account/calendar-feeds/:id/revoke',
    operation: 'calendar_feed.end',
    async ask(request, reply, refused) {
      const { em, actor, params } = request;
      const { id, site } = await loadFeed(em, actor, params.id);
      const hostname = siteHostname(deps.config, (site as Site).name);
      return calendarFeedRevocationPage(frameOf(request, reply, deps, refused), { id, hostname });
    },
    input: ({ params: { id } }) => ({ id }),
    done: () => ({
      to: '/account/agents',
      notice: 'Revoked. Calendar programs can no longer read the bookings at this address.',
    }),
  });
}

/** The newest open feeds of the account's sites, for its page. */
export async function calendarFeedsShown(em: EntityManager, deps: Deps, person: Person): Promise<CalendarFeedShown[]> {
  const site = await sitesOf(em, person);
  const found = await em.find(
    CalendarFeed,
    { site, ...openFeeds(deps.clock.now()) },
    { populate: ['site', 'account'], orderBy: { id: 'desc' }, limit: shownMax },
  );
  return found.map(({ id, site, account, createdAt, expiresAt }) => ({
    id,
    hostname: siteHostname(deps.config, site.name),
    maker: account.id === person.accountId ? null : account.name,
    createdAt,
    expiresAt: expiresAt ?? null,
  }));
}
