/** Adds a stock photo to a site, with its author's credit in a file beside it. */

import { type Actor, loadSite, requireActive, roleOf } from '#api/access.ts';
import { exceedsFileLimit, fileAt, requireAssetPath, storeAsset } from '#api/assets/rules.ts';
import { rulesFor } from '#api/source/commits.ts';
import { contentOf } from '#api/source/content.ts';
import { receiveUpload, storeBlob } from '#api/source/upload-stream.ts';
import { requireName } from '#api/source/validation.ts';
import { Asset } from '#db/assets/asset.ts';
import { Photo } from '#db/assets/photo.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import { planLimitsOf } from '#rules/plan-limits.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { requireLibrary, throwCatalogError } from './search.ts';

export type Placed = { asset: Asset; photo: Photo; creditPath: string };

const creditPathOf = (path: string) => `${path}.credit.json`;

/** Throws `invalid_photo`, `invalid_path`, `provider_error`, and what writing an asset throws. */
export async function placePhoto(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { photo_id, path }: { photo_id: string; path: string },
): Promise<Placed> {
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  requireAssetPath(path, ['src/assets/']);
  const by = roleOf(site, actor);
  requireName(rulesFor(deps, site, 'source', by), path);
  const photo = await loadPhoto(em, deps, photo_id);
  const known = await fileAt(deps, site, path);
  const planLimits = planLimitsOf(deps.config, site, deps.clock.now(), by);
  const body = await requireLibrary(deps).file(photo).catch(throwCatalogError);
  const tooLarge = () => exceedsFileLimit(path, planLimits);
  await using file = await receiveUpload(deps, body, { bytesMax: planLimits.limits.file_bytes, tooLarge }).catch(
    (error) => throwBrokenPhoto(error, body.errored),
  );
  const creditPath = creditPathOf(path);
  const asset = await storeAsset(em, deps, site, {
    actor,
    path,
    content: await storeBlob(em, deps, { site, by, path }, file),
    known,
    source: 'photo',
    message: `Add ${path}, a photo by ${photo.creditName}`,
    beside: [{ path: creditPath, content: contentOf(creditFile(photo)) }],
  });
  return { asset, photo, creditPath };
}

/** A photo that a search of this installation's library has returned. Throws `invalid_photo`. */
export async function loadPhoto(em: EntityManager, deps: Deps, id: string): Promise<Photo> {
  const library = requireLibrary(deps);
  const photo = isId('photo', id) ? await em.findOne(Photo, { id, library: library.name }) : null;
  if (photo) return photo;
  throw errors.invalid_photo('There is no photo with this id.', {
    nextAction: `Call ${call('photo.search')} and use an id from its response.`,
  });
}

/** The photo as the site has it, for a repeated call. */
export async function loadPlaced(em: EntityManager, deps: Deps, actor: Actor, siteId: string, made: string) {
  const site = await loadSite(em, actor, siteId);
  const [assetId = '', photoId = ''] = made.split(':');
  const asset = await em.findOneOrFail(Asset, { id: assetId, site });
  return { asset, photo: await loadPhoto(em, deps, photoId), creditPath: creditPathOf(asset.path) };
}

/** The contents of the credit file. */
export const creditOf = ({ creditName, creditUrl, pageUrl, description }: Photo) => ({
  author: creditName,
  author_url: creditUrl,
  source_url: pageUrl,
  description,
});

function creditFile(photo: Photo): Buffer {
  return Buffer.from(`${JSON.stringify(creditOf(photo), null, 2)}\n`);
}

/** The library's connection was lost, not the client's. */
function throwBrokenPhoto(error: unknown, broken: Error | null): never {
  if (broken === null) throw error;
  throw errors.provider_error('The stock photo library closed the connection before the photo was complete.', {
    retryable: true,
    nextAction: 'Send the same request again in a minute.',
    cause: error,
  });
}
