import { z } from 'zod';
import type { RedirectRule } from '#providers/redirects.ts';

const input = z.strictObject({
  from: z.string().describe('A path of the site; `/*` at its end stands for all below it.'),
  to: z.string().nullish().describe('A path or an address; `:splat` is what `/*` stood for. Not needed with 410.'),
  status: z.number().default(301).describe('301, 302, 307, 308 or 410.'),
});

/** All rules of a site; those it had before go. */
export const redirectsInput = z.strictObject({
  rules: z
    .array(input)
    .describe('At most 2,000. The rule for the very path wins, then the longest one that ends in /*.'),
});

export const redirectsSchema = z
  .object({
    rules: z.array(z.object({ from: z.string(), to: z.string().nullable(), status: z.number().int() })),
  })
  .meta({ id: 'Redirects' });

export function redirectsView(rules: readonly RedirectRule[]): z.output<typeof redirectsSchema> {
  return { rules: rules.map(({ from, to = null, status }) => ({ from, to, status })) };
}
