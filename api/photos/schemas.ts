import { z } from 'zod';
import { assetSchema } from '#api/assets/schemas.ts';
import type { Photo } from '#db/assets/photo.ts';
import type { PhotoLibrary } from '#providers/photos.ts';
import { call } from '#rules/calls/calls.ts';

export const searchInput = z.strictObject({
  query: z.string().trim().min(1).max(200).describe('What the photo should show, in a few words.'),
});

const credit = z.object({ name: z.string() });

const photoSchema = z
  .object({
    id: z.string(),
    description: z.string(),
    width: z.number().int(),
    height: z.number().int(),
    thumb_url: z.string().describe('URL of a thumbnail.'),
    credit,
  })
  .meta({ id: 'Photo' });

export const photosSchema = z.object({
  items: z.array(photoSchema),
  next_action: z.string().optional().describe('What to do where no photo fits.'),
});

/** Where nothing was found: what else to try. */
export function elsewhere({ all }: Pick<PhotoLibrary, 'all'>): string {
  const own = `ask the owner for a photo of their own (${call('upload.create')})`;
  if (!all) return `No photo fits these words. Search with other words, or ${own}.`;
  return `No photo fits these words. These are all photos that there are: ${all.join('; ')}. Search for one of them, or ${own}.`;
}

export const placeInput = z.strictObject({
  photo_id: z.string().describe(`An id returned by ${call('photo.search')}.`),
  path: z.string().min(1).max(1024).describe('A path below `src/assets/` that ends in .jpg.'),
});

export const placedSchema = assetSchema
  .extend({
    credit: z
      .object({ author: z.string(), author_url: z.string(), source_url: z.string(), description: z.string() })
      .describe('As in the file at `credit_path`: a page imports it and shows `credit.author`.'),
    credit_path: z.string().describe('Path of the JSON file that names the photo’s author and source.'),
  })
  .meta({ id: 'PlacedPhoto' });

export function photoView(photo: Photo, { baseUrl }: { baseUrl: string }): z.output<typeof photoSchema> {
  const { id, description, width, height, creditName } = photo;
  return { id, description, width, height, thumb_url: `${baseUrl}/photos/${id}/thumb`, credit: { name: creditName } };
}
