import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import { periods, type Report } from './rules.ts';

export const analyticsQuery = z.strictObject({
  period: z
    .enum(periods)
    .default('7d')
    .describe(
      'The period to report on, ending now. `24h` is divided into hours, `7d` and `30d` into days, `12mo` into months, all in UTC.',
    ),
});

const views = z.number().int();

export const analyticsSchema = z
  .object({
    period: z.enum(periods),
    visitors: z
      .number()
      .int()
      .describe(
        'Unique visitors, accurate to within about 2%. A visitor is recognised only within one UTC day, so the count for a longer period is the sum of its daily counts.',
      ),
    views: views.describe('Page views, excluding bots and prefetches.'),
    series: z
      .array(z.object({ at: moment, visitors: z.number().int(), views }))
      .describe('Oldest first, without gaps.'),
    pages: z
      .array(z.object({ path: z.string(), views }))
      .describe('Most viewed first. The last item, `other`, is the total of the remaining pages.'),
    referrers: z
      .array(z.object({ host: z.string(), views }))
      .describe('Hosts of other sites that visitors came from, without `www.`.'),
    countries: z
      .array(z.object({ country: z.string(), views }))
      .optional()
      .describe('ISO 3166-1 country codes. Absent if the platform does not know visitors’ countries.'),
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
