import { z } from 'zod';
import type { RedirectRule } from '#providers/redirects.ts';

const input = z.strictObject({
  from: z.string().describe('A path on the site; a trailing `/*` matches all paths below it.'),
  to: z.string().nullish().describe('A path or a URL; `:splat` inserts the part matched by `/*`. Not needed for 410.'),
  status: z.number().default(301).describe('301, 302, 307, 308 or 410.'),
});

/** All rules of a site; they replace the previous ones. */
export const redirectsInput = z.strictObject({
  rules: z
    .array(input)
    .describe('At most 2,000 rules. An exact path takes precedence, then the longest matching path that ends in `/*`.'),
});

export const redirectsSchema = z
  .object({
    rules: z.array(z.object({ from: z.string(), to: z.string().nullable(), status: z.number().int() })),
  })
  .meta({ id: 'Redirects' });

export function redirectsView(rules: readonly RedirectRule[]): z.output<typeof redirectsSchema> {
  return { rules: rules.map(({ from, to = null, status }) => ({ from, to, status })) };
}
