/** Calendar feeds on the account page, and its button. */
import { type Person, sitesOf } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { accountButton } from '#api/console/notices.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import { CalendarFeed, openFeeds } from '#db/calendar-feeds/calendar-feed.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { CalendarFeedShown } from '#web/pages/access-lists.ts';
import { revokeFeed } from './feeds.ts';

const shownMax = 50;

export function calendarFeedPages(app: Api, deps: Deps): void {
  accountButton(app, deps, {
    path: '/account/calendar-feeds/:id/revoke',
    options: pageOptions('calendar_feed.end_on_page', 'email_signin'),
    act: ({ em, actor, params }) => revokeFeed(em, deps, actor, params.id),
    to: '/account/agents',
    notice: 'Revoked. Calendar programs can no longer read the bookings at this address.',
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
