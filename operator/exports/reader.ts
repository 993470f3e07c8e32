/**
 * Imports a site from an archive with its original ids. The archive is validated before anything is written; rows come
 * last, in one transaction.
 */
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ExportFault, type SiteDocument } from '#api/exports/document.ts';
import { isReservedName } from '#api/sites/names.ts';
import { siteInput } from '#api/sites/schemas.ts';
import { renderManifest } from '#providers/manifest.ts';
import { isCompressible } from '#providers/media-types.ts';
import { checkRedirects } from '#providers/redirects/rules.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Store } from '#providers/store/store.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { AppError } from '#runtime/errors.ts';
import { siteAddress, siteHostname } from '#runtime/site-addresses.ts';
import { refused, requirePast, requirePossibleTimes, type Unpacked, unpackArchive } from './archive-reader.ts';
import { commitSite, tryRows } from './commits.ts';
import { validateRepositories, withRepositories } from './repositories.ts';
import type { Put } from './rows.ts';

export type Wish = { archive: string; accountId: string; name?: string | undefined };
export type Imported = { site_id: string; hostname: string; files: number; rows: Record<string, number> };
type Deps = { config: Config; clock: Clock; store?: Store };

/** Throws ExportFault; then nothing has changed, except that the store may contain unused files. */
export async function importSite(deps: Deps, { archive, accountId, name }: Wish): Promise<Imported> {
  const { config, clock, store = createStore(config) } = deps;
  await mkdir(config.dataDir, { recursive: true });
  const dir = await mkdtemp(join(config.dataDir, 'import-'));
  try {
    const unpacked = await unpackArchive(archive, dir);
    const { document } = unpacked;
    document.site.name = usableName(name ?? document.site.name);
    requirePast(document, clock.now());
    requirePossibleTimes(document, clock.now());
    const redirects = usableRedirects(config, document);
    const taken = { document, accountId, siteUrl: siteAddress(config, document.site.name) };
    const subscriptions = await tryRows(deps, taken);
    await validateRepositories(deps, unpacked, { dir, subscriptions });
    // May be slow: no row is locked meanwhile, and no sweeper deletes these files yet.
    const put = await putFiles(store, unpacked, redirects);
    await withRepositories(deps, unpacked, (made) => commitSite(deps, taken, { put, made }));
    const rows = Object.entries(document.rows).map(([table, all]) => [table, all.length]);
    const hostname = siteHostname(config, document.site.name);
    return { site_id: document.site.id, hostname, files: unpacked.files.length, rows: Object.fromEntries(rows) };
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

function usableName(name: string): string {
  if (siteInput.shape.name.safeParse(name).success && !isReservedName(name)) return name;
  throw new ExportFault(`${name} is not a valid site name on this installation. Choose another name with --name.`);
}

function usableRedirects(config: Config, { redirects, site }: SiteDocument) {
  try {
    const written = redirects.map(({ from, to, status }, index) => ({ name: `Rule ${index + 1}`, from, to, status }));
    return checkRedirects(written, siteAddress(config, site.name));
  } catch (error) {
    if (error instanceof AppError) throw refused(`its redirects are not valid: ${error.message}`);
    throw error;
  }
}

/** Stores and compresses the files, as a build does. No row refers to them yet. */
async function putFiles(store: Store, { document, files, path }: Unpacked, redirects: unknown[]): Promise<Put> {
  const kept = [];
  for (const file of files) {
    const content = createReadStream(path.blob(file.sha256));
    const { sha256, bytes, encodings } = await store.put(content, { compress: isCompressible(file.path) });
    kept.push({ path: file.path, sha256, bytes, encodings: encodings.filter((one) => one !== 'identity') });
  }
  for (const { picture_sha256: picture } of document.rows.comment_thread)
    if (picture) await store.put(createReadStream(path.blob(picture)));
  const manifest = document.live ? await store.put(renderManifest(kept)) : undefined;
  const rules = redirects.length > 0 ? await store.put(Buffer.from(JSON.stringify(redirects))) : undefined;
  await store.flush();
  const totalBytes = kept.reduce((sum, { bytes }) => sum + bytes, 0);
  return {
    manifestSha256: manifest?.sha256 ?? null,
    redirectsSha256: rules?.sha256 ?? null,
    fileCount: kept.length,
    totalBytes,
  };
}
