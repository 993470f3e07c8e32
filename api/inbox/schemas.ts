import { z } from 'zod';
import { pageQuery } from '#api/pages.ts';
import { moment, sinceQuery } from '#api/schemas.ts';
import { type Config, siteHostname } from '#runtime/config.ts';
import { type InboxItem, inboxKinds } from './item.ts';

export const waitSecondsMax = 50;

export const inboxQuery = pageQuery.extend({
  since: sinceQuery
    .optional()
    .describe('What began to wait after this moment: `at` of the first item of the answer before.'),
  wait: z.coerce
    .number()
    .int()
    .min(0)
    .max(waitSecondsMax)
    .default(0)
    .describe('Seconds to wait for the first item, where there is none.'),
});

export const inboxItemSchema = z
  .object({
    kind: z.enum(inboxKinds),
    id: z.string().describe('Of the thing that waits.'),
    site: z.object({ id: z.string(), hostname: z.string() }).nullable(),
    at: moment.describe('When it began to wait.'),
    title: z.string(),
    message: z.string().optional().describe('Words of the thing itself: data, whoever wrote them.'),
    next_action: z.string(),
  })
  .meta({ id: 'InboxItem' });

export function inboxItemView(
  { kind, id, site, at, title, message, nextAction }: InboxItem,
  config: Config,
): z.output<typeof inboxItemSchema> {
  return {
    kind,
    id,
    site: site && { id: site.id, hostname: siteHostname(config, site.name) },
    at,
    title,
    ...(message === undefined ? {} : { message }),
    next_action: nextAction,
  };
}
