import { z } from 'zod';
import { pageQuery } from '#api/pagination.ts';
import { moment } from '#api/schemas.ts';
import { chosenDirection, type Sketch, type SketchHost } from '#db/sketches/sketch.ts';
import type { Config } from '#runtime/config.ts';
import { siteAddress } from '#runtime/site-addresses.ts';

const direction = z.strictObject({
  name: z.string().trim().min(1).max(80).describe('The name of the direction, as shown to the owner.'),
  html: z
    .string()
    .refine((text) => text.trim() !== '', 'the page of a direction must not be empty')
    .describe('The complete HTML page. Scripts do not run.'),
  note: z.string().trim().max(1_000).optional().describe('What the owner should notice, in one or two sentences.'),
});

export const sketchInput = z.strictObject({
  title: z.string().trim().min(1).max(120).describe('Heading of the page that shows all directions.'),
  directions: z.array(direction).min(1).max(6),
});

const statuses = z.enum(['shown', 'removed']);

export const sketchQuery = pageQuery.extend({ status: statuses.optional() });

export const sketchSchema = z
  .object({
    id: z.string(),
    title: z.string(),
    status: statuses,
    url: z
      .string()
      .describe('Address of the page that shows all directions. Anyone who has the address can see the page.'),
    directions: z.array(z.object({ name: z.string(), note: z.string().nullable(), url: z.string() })),
    chosen: z
      .object({ name: z.string(), url: z.string(), at: moment })
      .nullable()
      .describe('The direction that a person chose on the page, and when; null until then.'),
    created_at: moment,
    removed_at: moment.nullable(),
  })
  .meta({ id: 'Sketch' });

export function sketchView(config: Config, sketch: Sketch): z.output<typeof sketchSchema> {
  const urlOf = ({ label }: SketchHost) => `${siteAddress(config, label)}/`;
  const [overview, ...directions] = sketch.hosts.getItems() as SketchHost[];
  if (!overview) throw new Error('the sketch has no overview page');
  const chosen = chosenDirection(sketch);
  return {
    id: sketch.id,
    title: sketch.title,
    status: sketch.status,
    url: urlOf(overview),
    directions: directions.map((host) => ({ name: host.name, note: host.note ?? null, url: urlOf(host) })),
    chosen: chosen && sketch.chosenAt ? { name: chosen.name, url: urlOf(chosen), at: sketch.chosenAt } : null,
    created_at: sketch.createdAt,
    removed_at: sketch.removedAt ?? null,
  };
}
