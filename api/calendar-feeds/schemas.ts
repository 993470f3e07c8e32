import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { CalendarFeed } from '#db/calendar-feeds/calendar-feed.ts';
import type { Config } from '#runtime/config.ts';

export const calendarFeedSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    created_by: z.string().describe('The account that created it.'),
    status: z.enum(['open', 'expired', 'ended']),
    created_at: moment,
    expires_at: moment.nullable().describe('The expiry of the token that created it. null: none.'),
    ended_at: moment.nullable(),
  })
  .meta({ id: 'CalendarFeed' });

export const newCalendarFeedSchema = calendarFeedSchema
  .extend({
    url: z
      .string()
      .describe(
        'The secret address that a calendar program subscribes to. Anyone who has it can read the bookings. It is shown only once.',
      ),
  })
  .meta({ id: 'NewCalendarFeed' });

export function calendarFeedView(feed: CalendarFeed, now: Date): z.output<typeof calendarFeedSchema> {
  const { expiresAt, endedAt } = feed;
  return {
    id: feed.id,
    site_id: feed.site.id,
    created_by: feed.account.id,
    status: endedAt ? 'ended' : expiresAt && expiresAt <= now ? 'expired' : 'open',
    created_at: feed.createdAt,
    expires_at: expiresAt ?? null,
    ended_at: endedAt ?? null,
  };
}

export function newCalendarFeedView(feed: CalendarFeed, secret: string, { baseUrl }: Config, now: Date) {
  return { ...calendarFeedView(feed, now), url: `${baseUrl}/calendar/${secret}.ics` };
}
