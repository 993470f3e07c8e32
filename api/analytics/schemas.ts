import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import { periods, type Report } from './rules.ts';

export const analyticsQuery = z.strictObject({
  period: z
    .enum(periods)
    .default('7d')
    .describe(
      'The period ends now. `24h` is divided into hours, `7d` and `30d` into days, `12mo` into months, all in UTC.',
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
        'Unique visitors, accurate to about 2 %. Visitors are only recognised within one UTC day; a longer period is the sum of its days.',
      ),
    views: views.describe('Pages served to people, without robots and prefetches.'),
    series: z
      .array(z.object({ at: moment, visitors: z.number().int(), views }))
      .describe('Oldest first, without gaps.'),
    pages: z
      .array(z.object({ path: z.string(), views }))
      .describe('Most frequent first. The rest is summed up as `other`, the last item.'),
    referrers: z
      .array(z.object({ host: z.string(), views }))
      .describe('Hosts of other sites that link here, without `www.`.'),
    countries: z
      .array(z.object({ country: z.string(), views }))
      .optional()
      .describe('ISO 3166-1 codes, if the platform knows the visitors’ countries.'),
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
