/** Calendars of a timetable, in requests and responses. */
import { z } from 'zod';
import { plainName } from '#api/schemas.ts';
import { weekdays } from '#rules/bookings/timetable.ts';
import { whereabouts, whereaboutsAnswer } from './offer-schemas.ts';

export const key = z
  .string()
  .regex(
    /^[a-z0-9][a-z0-9_-]{0,39}$/,
    'a key must consist of 1 to 40 lower-case letters, digits, - and _, and begin with a letter or digit',
  )
  .describe('Identifies the calendar or service in calls and bookings, independently of its name.');
const time = z.string().describe('Local time, HH:MM; `to` may be 24:00.');
const window = z.strictObject({ from: time, to: time });
const date = z.string().max(10);

export const calendarSchema = z
  .strictObject({
    key,
    name: plainName(120),
    capacity: z.int().min(1).max(10_000).describe('Number of seats that can be booked for the same time.'),
    time_zone: z.string().max(64).describe('An IANA time zone name, such as Europe/Berlin.'),
    ...whereabouts,
    hours: z.array(window.extend({ days: z.array(z.enum(weekdays)).min(1).max(7) })).max(100),
    exceptions: z
      .array(
        z.strictObject({
          date: date.optional(),
          from: date.optional().describe('The first date of several, such as a holiday.'),
          to: date.optional().describe('The last date of several.'),
          hours: z.array(window).max(20),
        }),
      )
      .max(1000)
      .default([])
      .describe(
        'Hours that replace the weekly hours on a date, or on each date from `from` to `to`. An empty list closes the calendar.',
      ),
  })
  .meta({ id: 'Calendar' });

export const calendarAnswer = z.object({
  key: z.string(),
  name: z.string(),
  capacity: z.number().int(),
  time_zone: z.string(),
  ...whereaboutsAnswer,
  hours: z.array(z.object({ days: z.array(z.enum(weekdays)), from: z.string(), to: z.string() })),
  exceptions: z.array(
    z.object({
      date: z.string().optional(),
      from: z.string().optional(),
      to: z.string().optional(),
      hours: z.array(z.object({ from: z.string(), to: z.string() })),
    }),
  ),
});
