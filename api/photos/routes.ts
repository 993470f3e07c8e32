import { fileTypeFromBuffer } from 'file-type';
import { LRUCache } from 'lru-cache';
import { z } from 'zod';
import type { Api } from '#api/api.ts';
import { assetView } from '#api/assets/schemas.ts';
import { idParams } from '#api/schemas.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import { creditOf, loadPhoto, loadPlaced, type Placed, placePhoto } from './placements.ts';
import { elsewhere, photosSchema, photoView, placedSchema, placeInput, searchInput } from './schemas.ts';
import { requireLibrary, searchPhotos, throwCatalogError } from './search.ts';

/** Stock photos: search, and add to a site. */
export function photoRoutes(app: Api, deps: Deps): void {
  app.post(
    '/v1/photos/search',
    {
      config: { operation: 'photo.search', needs: 'any', capability: 'photos' },
      schema: {
        summary: 'Search stock photos',
        description:
          'Returns the best matches for the query. The photos may be stored and used if their authors are credited.',
        body: searchInput,
        response: { 200: photosSchema },
      },
    },
    async ({ em, body }) => {
      const photos = await searchPhotos(em, deps, body.query);
      const items = photos.map((photo) => photoView(photo, deps.config));
      return { items, ...(items.length === 0 ? { next_action: elsewhere(requireLibrary(deps)) } : {}) };
    },
  );

  app.post(
    '/v1/sites/:id/photos',
    {
      config: {
        operation: 'photo.place',
        needs: 'write',
        capability: 'photos',
        invalid: { photo_id: 'invalid_photo', path: 'invalid_path' },
        replay: async ({ em, actor, params }, made) =>
          placedView(await loadPlaced(em, deps, actor, (params as z.output<typeof idParams>).id, made)),
      },
      schema: {
        summary: 'Add a stock photo to a site',
        description:
          'Creates one commit with the photo, without location and camera data, and a JSON file that contains its credit.',
        params: idParams,
        body: placeInput,
        response: { 200: placedSchema },
      },
    },
    async (request) => {
      const { em, actor, params, body } = request;
      const placed = await placePhoto(em, deps, actor, params.id, body);
      request.answeredId = `${placed.asset.id}:${placed.photo.id}`;
      return placedView(placed);
    },
  );
}

function placedView({ asset, photo, creditPath }: Placed) {
  return { ...assetView(asset), credit: creditOf(photo), credit_path: creditPath };
}

const thumbTypes = ['image/jpeg', 'image/png', 'image/webp', 'image/avif'];

/** Thumbnails, served from our host so that the library does not see the visitors. No token is needed, because pages show them. */
export function thumbRoutes(app: Api, deps: Deps): void {
  const thumbs = new LRUCache<string, { bytes: Buffer; type: string }>({
    maxSize: 32 * 1_048_576,
    sizeCalculation: ({ bytes }) => bytes.length,
  });
  app.get(
    '/photos/:id/thumb',
    {
      config: { operation: 'photo.thumb', capability: 'photos' },
      schema: { hide: true, params: idParams, response: { 200: z.any() } },
    },
    async ({ params }, reply) => {
      const thumb = thumbs.get(params.id) ?? (await fetchThumb(deps, params.id));
      thumbs.set(params.id, thumb);
      return reply
        .headers({
          'content-type': thumb.type,
          'cache-control': 'public, max-age=86400',
          'cross-origin-resource-policy': 'cross-origin',
        })
        .send(thumb.bytes);
    },
  );
}

async function fetchThumb(deps: Deps, id: string): Promise<{ bytes: Buffer; type: string }> {
  const photo = await loadPhoto(deps.em(), deps, id).catch((error) => {
    throw error instanceof AppError && error.code === 'invalid_photo'
      ? errors.not_found('There is no photo at this address.')
      : error;
  });
  const bytes = await requireLibrary(deps).thumb(photo).catch(throwCatalogError);
  const type = (await fileTypeFromBuffer(bytes))?.mime;
  if (type !== undefined && thumbTypes.includes(type)) return { bytes, type };
  throw errors.provider_error('The stock photo library returned an unexpected response.', { retryable: false });
}
