/** Searches the photo library through a cache that all processes share. */

import { missing } from '#api/capabilities.ts';
import { Photo } from '#db/assets/photo.ts';
import type { EntityManager } from '#db/orm.ts';
import { type LibraryPhoto, type PhotoLibrary, PhotosFault } from '#providers/photos.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { countSearch } from './search-quota.ts';

const keptMs = dayMs;
const busySeconds = 60;

export function requireLibrary(deps: Pick<Deps, 'config' | 'photos'>): PhotoLibrary {
  if (deps.photos) return deps.photos;
  throw missing(deps.config, 'photos') ?? new Error('photos are enabled but no photo library is configured');
}

/** The library's best matches. Throws `photos_busy` at the platform's limit, `provider_error` if the library fails. */
export async function searchPhotos(em: EntityManager, deps: Deps, query: string): Promise<Photo[]> {
  const library = requireLibrary(deps);
  const words = query.toLowerCase().replace(/\s+/g, ' ');
  const ids = (await cached(em, deps, library.name, words)) ?? (await searchProvider(em, deps, library, words));
  const photos = await em.find(Photo, { id: { $in: ids } });
  return photos.sort((one, other) => ids.indexOf(one.id) - ids.indexOf(other.id));
}

async function cached(
  em: EntityManager,
  { clock }: Deps,
  library: string,
  query: string,
): Promise<string[] | undefined> {
  const [row] = await em.execute<{ photo_ids: string[] }[]>(
    'select photo_ids from photo_search where library = ? and query = ? and expires_at > ?',
    [library, query, clock.now()],
  );
  return row?.photo_ids;
}

async function searchProvider(em: EntityManager, deps: Deps, library: PhotoLibrary, query: string): Promise<string[]> {
  const perHour = library.searchesPerHour;
  if (perHour !== undefined && !(await countSearch(em, deps, { library: library.name, perHour }))) throw photosBusy();
  const found = await library.search(query).catch(throwCatalogError);
  const ids = await saveResult(em, deps, library.name, found);
  await em.execute(
    `insert into photo_search (library, query, photo_ids, expires_at) values (?, ?, ?::jsonb, ?)
     on conflict (library, query) do update set photo_ids = excluded.photo_ids, expires_at = excluded.expires_at`,
    [library.name, query, JSON.stringify(ids), new Date(deps.clock.now().getTime() + keptMs)],
  );
  return ids;
}

/** A photo found by an earlier search keeps its id. */
async function saveResult(
  em: EntityManager,
  { clock }: Deps,
  library: string,
  found: LibraryPhoto[],
): Promise<string[]> {
  const ids: string[] = [];
  for (const photo of found) {
    const [row] = await em.execute<[{ id: string }]>(
      `insert into photo (id, library, reference, description, width, height, credit_name, credit_url, page_url, file_url,
         thumb_url, created_at)
       values (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       on conflict (library, reference) do update set description = excluded.description, width = excluded.width,
         height = excluded.height, credit_name = excluded.credit_name, credit_url = excluded.credit_url,
         page_url = excluded.page_url, file_url = excluded.file_url, thumb_url = excluded.thumb_url
       returning id`,
      [
        newId('photo'),
        library,
        photo.reference,
        photo.description,
        photo.width,
        photo.height,
        photo.creditName,
        photo.creditUrl,
        photo.pageUrl,
        photo.fileUrl,
        photo.thumbUrl,
        clock.now(),
      ],
    );
    ids.push(row.id);
  }
  return ids;
}

/** Translates the library's failures into catalog errors; rethrows anything else. */
export function throwCatalogError(error: unknown): never {
  if (!(error instanceof PhotosFault)) throw error;
  if (error.outcome === 'busy') throw photosBusy();
  throw errors.provider_error('The stock photo library returned an unexpected response.', {
    retryable: error.outcome === 'later',
    cause: error,
    ...(error.outcome === 'later' ? { nextAction: 'Send the same request again in a minute.' } : {}),
  });
}

function photosBusy(): AppError {
  return errors.photos_busy(
    'The stock photo library is not accepting more searches from this platform at the moment.',
    {
      nextAction:
        'Wait a minute, then send the same request again. Searches from the last day are cached and still work.',
      retryAfterSeconds: busySeconds,
    },
  );
}
