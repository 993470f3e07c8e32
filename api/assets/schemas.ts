import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { Asset } from '#db/assets/asset.ts';
import { contentTypeOf } from '#providers/media-types.ts';

export const assetSchema = z
  .object({
    path: z.string(),
    bytes: z.number().int(),
    content_type: z.string(),
    sha256: z.string().describe('The hash of the stored bytes. A photo is stored without location and camera data.'),
    source: z.enum(['api', 'photo', 'upload_link']).describe('How the file was added.'),
    created_at: moment,
  })
  .meta({ id: 'Asset' });

export const assetParams = z.object({
  id: z.string(),
  '*': z.string().describe('A path under `src/assets/`, `src/static/` or `public/`.'),
});

export function assetView(asset: Asset): z.output<typeof assetSchema> {
  return {
    path: asset.path,
    bytes: asset.bytes,
    content_type: contentTypeOf(asset.path),
    sha256: asset.sha256,
    source: asset.source,
    created_at: asset.createdAt,
  };
}
