import { z } from 'zod';
import type { Deployment } from '#db/deployments/deployment.ts';
import type { Rendering } from '#db/renderings/rendering.ts';
import { call } from '#rules/calls/calls.ts';
import { type Compared, pageChanges } from '#rules/looks.ts';
import type { Config } from '#runtime/config.ts';
import { checksInput } from './schemas.ts';

export const comparisonsInput = z.strictObject({
  against: z
    .string()
    .optional()
    .describe('The id of the earlier version. Without it: the live version, or the one before if this is live.'),
  paths: checksInput.shape.paths.describe(
    'The pages to compare. Without it: those that may look different, at most ten.',
  ),
});

const region = z.object({
  x: z.number().int(),
  y: z.number().int(),
  width: z.number().int(),
  height: z.number().int().describe('0 where something was removed.'),
});

export const comparisonSchema = z
  .object({
    id: z.string(),
    deployment_id: z.string(),
    against: z.string().describe('The id of the earlier version.'),
    status: z.enum(['queued', 'running', 'done', 'failed']),
    pages: z
      .array(
        z.object({
          page: z.string(),
          change: z
            .enum(pageChanges)
            .describe(
              '`added` and `removed`: the page is in one of the versions only, and is not drawn. `not_shown`: it could not be drawn.',
            ),
          width: z.number().int().nullable().describe('The width of the window: 390 or 1280.'),
          regions: z
            .array(region)
            .describe('Where the newer version differs, in CSS pixels, from the top; at most 20.'),
          picture: z
            .object({ number: z.number().int(), url: z.string(), width: z.number().int(), height: z.number().int() })
            .nullable()
            .describe(`The earlier version beside the newer one: ${call('comparison.picture')}, with this \`number\`.`),
        }),
      )
      .describe('The pages that look different. What lies on another host is not drawn.'),
    unchanged: z.array(z.string()).describe('The pages that look the same.'),
    pages_left: z.number().int().describe('How many further pages were not compared.'),
    next_action: z.string().optional(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'Comparison' });

const nothing: Compared = { pages: [], unchanged: [], pagesLeft: 0 };

export function comparisonView(config: Config, rendering: Rendering, deployment: Deployment) {
  const { id, status, error, work } = rendering;
  const { pages, unchanged, pagesLeft } = (rendering.result as Compared | null) ?? nothing;
  return {
    id,
    deployment_id: deployment.id,
    against: 'comparison' in work ? work.comparison.against : '',
    status,
    pages: pages.map(({ picture, ...page }) => ({
      ...page,
      picture: picture && {
        number: picture.position,
        url: `${config.baseUrl}/v1/comparisons/${id}/pictures/${picture.position}`,
        width: picture.width,
        height: picture.height,
      },
    })),
    unchanged,
    pages_left: pagesLeft,
    ...nextStep(
      rendering,
      deployment,
      pages.some(({ picture }) => picture !== null),
    ),
    ...(error ? { error: { code: error.code, message: error.message } } : {}),
  };
}

function nextStep(
  rendering: Rendering,
  { kind, slot, site }: Deployment,
  hasPictures: boolean,
): { next_action?: string } {
  const { id, status, finishedAt } = rendering;
  if (!finishedAt) return { next_action: `Call ${call('comparison.read', { id })} again in about 5 seconds.` };
  if (status === 'failed') return { next_action: 'Start the comparison again.' };
  const pictures = hasPictures ? [`See both versions of a page with ${call('comparison.picture', { id })}.`] : [];
  const isPreview = kind === 'draft' && typeof slot === 'number';
  const publish = isPreview
    ? [`If every change is meant, publish the preview with ${call('preview.publish', { id: site.id, slot })}.`]
    : [];
  const steps = [...pictures, ...publish];
  return steps.length > 0 ? { next_action: steps.join(' ') } : {};
}
