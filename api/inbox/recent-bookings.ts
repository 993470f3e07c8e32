/** Upcoming bookings that visitors made in the last week and that were not cancelled. */

import { Booking } from '#db/bookings/booking.ts';
import { momentIn } from '#rules/bookings/written-times.ts';
import { dayMs } from '#rules/time.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Reader, Source } from './item.ts';

const weekMs = 7 * dayMs;

export const recentBookings: Source = async (em, { siteIds, accountId }: Reader, since, { now, limit }) => {
  const after = new Date(Math.max(since.getTime(), now.getTime() - weekMs));
  const bookings = await em.find(
    Booking,
    {
      site: { id: { $in: [...siteIds] }, status: 'active' },
      kind: 'booking',
      createdById: null,
      status: 'confirmed',
      createdAt: { $gt: after },
      endsAt: { $gt: now },
      [unfinished(accountId, { kind: 'new_booking', at: 'created_at' })]: [],
    },
    { populate: ['site', 'calendar'], orderBy: { createdAt: 'desc' }, limit },
  );
  return bookings.map(({ id, site, createdAt, visitorName, serviceName, startsAt, calendar }): InboxItem => {
    const start = momentIn(startsAt.toISOString(), calendar.timeZone);
    return {
      kind: 'new_booking',
      id,
      site: { id: site.id, name: site.name },
      who: visitorName,
      at: createdAt,
      title: `${visitorName} booked ${serviceName} on ${site.name} for ${start}.`,
      nextAction: `Tell the owner. GET /v1/bookings/${id} returns the booking; POST /v1/bookings/${id}/cancel cancels it.`,
    };
  });
};
