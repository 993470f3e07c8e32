/** The sites of a person with what Home shows of them, in one query whatever their number. */
import type { Person } from '#api/access.ts';
import { actorName } from '#api/inbox/item.ts';
import { dateText, dayOf, later } from '#db/analytics/calendar.ts';
import { restoredOf } from '#db/history/restores.ts';
import type { EntityManager } from '#db/orm.ts';
import { ownerBlockedReason } from '#db/sites/blocks.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteAddress } from '#runtime/site-addresses.ts';
import type { SiteCard } from '#web/console/home/site-cards.ts';

/** Visits of so many days are shown, and enquiries and bookings are counted over as many. */
const days = 7;

// Own sites under deletion are shown, so that they can be restored.
const sql = `
  with mine as (
    select site.* from site
    where purged_at is null and (account_id = ?
      or delete_at is null and id in (select site_id from collaborator where account_id = ?))
  ), views as (
    select site_id, start, views from view_total
      where unit = 'day' and start >= ?::date and site_id in (select id from mine)
    union all
    select site_id, (hour at time zone 'UTC')::date, view_hour.views from view_hour
      where hour >= ?::timestamptz and site_id in (select id from mine) and not exists (
        select 1 from view_total total where total.site_id = view_hour.site_id and total.unit = 'day'
          and total.start = (hour at time zone 'UTC')::date)
  ), visits as (
    select site_id, jsonb_object_agg(day, sum) as by_day
    from (select site_id, to_char(start, 'YYYY-MM-DD') as day, sum(views)::int from views group by 1, 2) as daily
    group by site_id
  ), comments as (
    select site_id, count(*)::int as n from comment_thread
    where status = 'open' and site_id in (select id from mine) group by site_id
  ), enquiries as (
    select form.site_id, count(*)::int as n from form join submission on submission.form_id = form.id
    where form.site_id in (select id from mine) and not spam and submission.created_at > ? and expires_at > ?
    group by form.site_id
  ), booked as (
    select site_id, count(*)::int as n from booking join mine on mine.id = site_id
    where kind = 'booking' and booking.status = 'confirmed' and ends_at > ? and (starts_at < ? or mine.status = 'archived')
    group by site_id
  )
  select card.deployment_id as "picturedId", mine.id, mine.name, mine.title, mine.account_id as owner, mine.status, mine.created_at as "createdAt", mine.delete_at as "deleteAt",
    mine.block_reason as "blockReason", mine.blocked_at is not null as "isBlocked", mine.owner_blocked_at is not null as "isOwnerBlocked",
    live.live_at as "liveAt", maker.id as "makerId", maker.name as maker,
    restored.actor_id is not null as "isRestored", case when restored.actor_id is null then live.created_via_name else restored.via_name end as via,
    coalesce(visits.by_day, '{}') as visits, coalesce(comments.n, 0) as comments, coalesce(enquiries.n, 0) as enquiries,
    coalesce(booked.n, 0) as bookings
  from mine
  left join deployment live on live.id = mine.live_deployment_id
  left join (select deployment_id from rendering join rendering_picture on rendering_id = id and position = 0 where form = 'card' and status = 'done')
    as card on card.deployment_id = live.id
  ${restoredOf('mine', 'live')}
  left join account maker on maker.id = coalesce(restored.actor_id, live.created_by_id)
  left join visits on visits.site_id = mine.id
  left join comments on comments.site_id = mine.id
  left join enquiries on enquiries.site_id = mine.id
  left join booked on booked.site_id = mine.id
  order by mine.id desc`;

type Row = Record<'id' | 'name' | 'title' | 'owner' | 'status', string> & {
  createdAt: string | Date;
  deleteAt: string | Date | null;
  blockReason: string | null;
  isBlocked: boolean;
  isOwnerBlocked: boolean;
  isRestored: boolean;
  liveAt: string | Date | null;
  picturedId: string | null;
  via: string | null;
  makerId: string | null;
  maker: string | null;
  visits: Record<string, number>;
  comments: number;
  enquiries: number;
  bookings: number;
};

export type NamedCard = SiteCard & { name: string; createdAt: Date };

/** The person's sites, newest first. */
export async function siteCards(
  em: EntityManager,
  { clock, config }: Pick<Deps, 'clock' | 'config'>,
  person: Person,
): Promise<NamedCard[]> {
  const { accountId } = person;
  const now = clock.now();
  const from = later(dayOf(now), (1 - days) * dayMs);
  const since = later(now, -days * dayMs);
  const values = [accountId, accountId, dateText(from), from, since, now, now, later(now, days * dayMs)];
  const rows: Row[] = await em.execute(sql, values);
  return rows.map((row): NamedCard => {
    const { id, name, title, deleteAt, isOwnerBlocked, isBlocked, blockReason, picturedId } = row;
    const { liveAt, makerId, maker, isRestored } = row;
    const by = { id: makerId ?? '', name: maker ?? '' };
    return {
      ...{ id, name, title },
      createdAt: new Date(row.createdAt),
      address: siteAddress(config, name),
      picture: picturedId && `/account/sites/${id}/versions/${picturedId}/picture`,
      archived: row.status === 'archived',
      deletion: deleteAt ? { at: new Date(deleteAt), restore: `/account/sites/${id}/restore` } : null,
      blocked: isBlocked ? blockReason : isOwnerBlocked ? ownerBlockedReason : null,
      live: liveAt ? { since: new Date(liveAt), by: actorName({ accountId }, by, row.via), isRestored } : null,
      visits: Array.from({ length: days }, (_, n) => {
        const at = later(from, n * dayMs);
        return { at, views: row.visits[dateText(at)] ?? 0 };
      }),
      openComments: row.comments,
      enquiries: row.enquiries,
      bookings: row.bookings,
      role: row.owner === accountId ? 'owner' : 'collaborator',
    };
  });
}
