/** Upcoming bookings that were made in the last week and not cancelled. */

import { Booking } from '#db/bookings/booking.ts';
import { isoLocal } from '#rules/bookings/time-zones.ts';
import { dayMs } from '#rules/time.ts';
import { type InboxItem, itemsMax, type Reader, type Source } from './item.ts';

const weekMs = 7 * dayMs;

export const recentBookings: Source = async (em, { siteIds }: Reader, since, { now }) => {
  const after = new Date(Math.max(since.getTime(), now.getTime() - weekMs));
  const bookings = await em.find(
    Booking,
    {
      site: { id: { $in: [...siteIds] }, status: 'active' },
      status: 'confirmed',
      createdAt: { $gt: after },
      endsAt: { $gt: now },
    },
    { populate: ['site', 'calendar'], orderBy: { createdAt: 'desc' }, limit: itemsMax },
  );
  return bookings.map(({ id, site, createdAt, visitorName, serviceName, startsAt, calendar }): InboxItem => {
    const start = isoLocal(calendar.timeZone, startsAt.getTime());
    return {
      kind: 'new_booking',
      id,
      site: { id: site.id, name: site.name },
      at: createdAt,
      title: `${visitorName} booked ${serviceName} on ${site.name} for ${start}.`,
      nextAction: `Tell the owner. GET /v1/bookings/${id} returns the booking; POST /v1/bookings/${id}/cancel cancels it.`,
    };
  });
};
