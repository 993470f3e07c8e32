import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import { periods, type Report } from './rules.ts';

export const analyticsQuery = z.strictObject({
  period: z
    .enum(periods)
    .default('7d')
    .describe('Ends now. `24h` is shown by the hour, `7d` and `30d` by the day, `12mo` by the month, all in UTC.'),
});

const views = z.number().int();

export const analyticsSchema = z
  .object({
    period: z.enum(periods),
    visitors: z
      .number()
      .int()
      .describe(
        'Different visitors, right within about 2 %. A visitor is known again on the same UTC day alone: over several days this is the sum of each day’s.',
      ),
    views: views.describe('Pages that were answered to people; robots and prefetches are left out.'),
    series: z
      .array(z.object({ at: moment, visitors: z.number().int(), views }))
      .describe('Oldest first, without holes.'),
    pages: z
      .array(z.object({ path: z.string(), views }))
      .describe('Most first; what is not among the first is `other`, the last.'),
    referrers: z
      .array(z.object({ host: z.string(), views }))
      .describe('Hosts of other sites whose links led here, without `www.`.'),
    countries: z
      .array(z.object({ country: z.string(), views }))
      .optional()
      .describe('ISO 3166-1 codes; where the platform is told them.'),
    devices: z.array(z.object({ device: z.string().describe('`desktop`, `mobile` or `tablet`.'), views })),
  })
  .meta({ id: 'Analytics' });

export function analyticsView(report: Report): z.output<typeof analyticsSchema> {
  const { period, visitors, views, series, pages, referrers, countries, devices } = report;
  return {
    period,
    visitors,
    views,
    series,
    pages: pages.map(({ key, views }) => ({ path: key, views })),
    referrers: referrers.map(({ key, views }) => ({ host: key, views })),
    ...(countries.length > 0 ? { countries: countries.map(({ key, views }) => ({ country: key, views })) } : {}),
    devices: devices.map(({ key, views }) => ({ device: key, views })),
  };
}
