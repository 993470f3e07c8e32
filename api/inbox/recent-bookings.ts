/**
 * Upcoming bookings that a visitor made or moved in the last week, and those that somebody else than the reader moved.
 * Of an archived site, all of them: only its people can notify these visitors.
 */

import { momentIn } from '#rules/bookings/written-times.ts';
import { call } from '#rules/calls/calls.ts';
import { dayMs } from '#rules/time.ts';
import { notDone } from './done.ts';
import { archivedNote, isArchived, type Source, siteColumns, siteIdsIn } from './item.ts';

const weekMs = 7 * dayMs;

// Without a mover, the visitor moved it.
const sql = `
  select booking.id, booking.visitor_name as visitor, service_name as service, starts_at as start, time_zone as "timeZone",
    news.at, is_move as "isMove", moved_at is not null as "isMoved", mover.name as mover, ${siteColumns}, ${isArchived}
  from booking
  join site on site.id = booking.site_id
  join calendar on calendar.id = booking.calendar_id
  cross join lateral (select moved_at is not null and moved_by_id is distinct from ? as is_move) as last
  cross join lateral (select case when is_move then moved_at else booking.created_at end as at) as news
  left join account mover on mover.id = booking.moved_by_id
  where booking.site_id = any(?) and booking.kind = 'booking' and booking.status = 'confirmed' and ends_at > ?
    and news.at > ? and (site.status = 'archived' or news.at > ?) and (booking.created_by_id is null or (is_move and moved_by_id is null))
    and ${notDone({ kind: 'new_booking', id: 'booking.id', at: 'news.at' })}
  order by news.at desc limit ?`;

type Row = Record<'id' | 'visitor' | 'service' | 'timeZone' | 'siteId' | 'siteName' | 'siteTitle', string> & {
  isMove: boolean;
  isMoved: boolean;
  isArchived: boolean;
  mover: string | null;
  start: string | Date;
  at: string | Date;
};

export const recentBookings: Source<Row> = {
  kind: 'new_booking',
  select(reader, since, { now, limit }) {
    const { accountId } = reader;
    const weekAgo = new Date(now.getTime() - weekMs);
    return { sql, values: [accountId, siteIdsIn(reader), now, since, weekAgo, accountId, limit] };
  },
  item(row) {
    return {
      id: row.id,
      site: { id: row.siteId, name: row.siteName },
      who: row.isMove ? (row.mover ?? row.visitor) : row.visitor,
      at: new Date(row.at),
      title: `${titleOf(row)}${archivedNote(row)}`,
      nextAction: `Tell the owner. ${call('booking.read', { id: row.id })} returns the booking; ${call('booking.cancel', { id: row.id })} cancels it.`,
    };
  },
};

function titleOf({ visitor, service, siteTitle, start, timeZone, isMove, isMoved, mover }: Row): string {
  const time = momentIn(new Date(start).toISOString(), timeZone);
  if (!isMove && isMoved)
    return `${visitor} booked ${service} on ${siteTitle}. ${mover ?? 'The owner'} moved the booking to ${time}.`;
  if (!isMove) return `${visitor} booked ${service} on ${siteTitle} for ${time}.`;
  if (mover === null) return `${visitor} moved their booking of ${service} on ${siteTitle} to ${time}.`;
  return `${mover} moved the booking of ${visitor} for ${service} on ${siteTitle} to ${time}.`;
}
