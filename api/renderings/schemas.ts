import { z } from 'zod';
import type { Checked, Rendering } from '#db/renderings/rendering.ts';
import { call } from '#rules/calls/calls.ts';
import { type FindingKind, findingKinds, findingsMax, findingsShown, severities } from '#rules/findings.ts';
import { heights, pictureFormats, type Screenshot, schemes, usualHeight, widths } from '#rules/looks.ts';
import type { Config } from '#runtime/config.ts';

const pathMax = 1_000;
const pathsMax = 20;

const between = (name: string, { min, max }: { min: number; max: number }) => {
  const range = `${name} must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error: range }).int(range).min(min, range).max(max, range);
};
const pagePath = z
  .string()
  .max(pathMax)
  .regex(/^\/[^\s\\?#]*$/, 'a path begins with / and has no query');

const form = z.strictObject({
  width: between('width', widths).default(390).describe('Width of the window: 390 is a phone, 1280 a laptop.'),
  height: z
    .union([z.literal('full'), between('height', heights)])
    .optional()
    .describe('Height of the window, or `full` for the whole page, down to 8,000 pixels.'),
  scheme: z.enum(schemes).default('light').describe('The colour scheme that the visitor prefers.'),
  format: z.enum(pictureFormats).default('webp').describe('WebP is the smaller one.'),
});

export const screenshotQuery = form
  .extend({ path: pagePath.default('/').describe('The path of the page, as visitors see it.') })
  .transform(withHeight);

export const sketchScreenshotQuery = form
  .extend({
    direction: z.coerce.number().int().min(1).max(6).default(1).describe('Which direction, starting at 1.'),
  })
  .transform(({ direction, ...query }) => ({ direction, screenshot: withHeight({ ...query, path: '/' }) }));

function withHeight({ height, ...query }: z.output<typeof form> & { path: string }): Screenshot {
  return { ...query, height: height ?? usualHeight(query.width) };
}

export const checksInput = z.strictObject({
  paths: z
    .array(pagePath)
    .min(1)
    .max(pathsMax)
    .optional()
    .describe('The pages to check. Without it: those that changed since the version before, at most ten.'),
});

export const checkQuery = z.strictObject({
  limit: between('limit', { min: 1, max: findingsMax }).default(findingsShown).describe('How many findings to return.'),
});

export const checkSchema = z
  .object({
    id: z.string(),
    deployment_id: z.string(),
    status: z.enum(['queued', 'running', 'done', 'failed']),
    findings: z
      .array(
        z.object({
          kind: z.enum(Object.keys(findingKinds) as [FindingKind, ...FindingKind[]]),
          severity: z.enum(severities),
          page: z.string(),
          width: z.number().int().describe('The width of the window: 390 or 1280.'),
          selector: z.string().nullable().describe('The element; null if it is about the whole page.'),
          text: z.string().describe('Words of the element, an address, or a message.'),
          advice: z.string().describe('What to do.'),
          count: z.number().int().describe('On how many pages the same was found.'),
          crop_url: z
            .string()
            .nullable()
            .describe(`A picture of the place: ${call('check.crop')}, with the number at its end.`),
        }),
      )
      .describe('One for each cause, worst first. What lies on another host is not checked.'),
    more: z.number().int().describe('How many further findings there are.'),
    pages: z.array(z.string()).describe('The pages that were checked.'),
    pages_left: z.number().int().describe('How many pages were not checked.'),
    next_action: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'Check' });

const nothing: Checked = { findings: [], pages: [], pagesLeft: 0 };

/** What a check found so far: at most `limit` findings. */
export function checkView(config: Config, rendering: Rendering, limit: number = findingsShown) {
  const { id, status, error } = rendering;
  const { findings, pages, pagesLeft } = (rendering.result as Checked | null) ?? nothing;
  return {
    id,
    deployment_id: rendering.deployment?.id ?? '',
    status,
    findings: findings.slice(0, limit).map(({ picture, ...finding }) => ({
      ...finding,
      crop_url: picture === null ? null : `${config.baseUrl}/v1/checks/${id}/crops/${picture}`,
    })),
    more: Math.max(0, findings.length - limit),
    pages,
    pages_left: pagesLeft,
    ...nextStep(rendering, findings.length - limit),
    ...(error ? { error: { code: error.code, message: error.message } } : {}),
  };
}

function nextStep({ id, status, finishedAt }: Rendering, more: number): { next_action?: string } {
  if (!finishedAt) return { next_action: `Call ${call('check.read', { id })} again in about 5 seconds.` };
  if (status === 'failed') return { next_action: 'Start the checks again.' };
  if (more <= 0) return {};
  return { next_action: `Call ${call('check.read', { id, limit: findingsMax })} for the other findings.` };
}
