/** Takes a site in from an archive, under the ids that it had. All of it is judged before anything is written; rows come last, in one transaction. */
import { randomUUID } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import pg from 'pg';
import { isReserved } from '../api/sites/names.ts';
import { siteInput } from '../api/sites/schemas.ts';
import { missingCommits, unpack, writeRefs } from '../backups/repositories.ts';
import { capsOf } from '../caps.ts';
import type { Clock } from '../clock.ts';
import { type Config, siteAddress, siteHostname } from '../config.ts';
import type { Repository } from '../db/states.ts';
import { AppError } from '../errors.ts';
import { judgePush } from '../git/push.ts';
import { readPlatformFiles, sentence } from '../git/rules.ts';
import { renderManifest } from '../providers/manifest.ts';
import { isCompressible } from '../providers/media-types.ts';
import { checkRedirects } from '../providers/redirects/rules.ts';
import { openRepositories } from '../providers/repositories.ts';
import { openStore } from '../providers/store/open.ts';
import type { Store } from '../providers/store/store.ts';
import { ExportFault, type SiteDocument } from './document.ts';
import { nameFiles, type Put, requireNew, writeRows } from './rows.ts';
import { refused, type Unpacked, unpackArchive } from './unpacking.ts';

export type Wish = { archive: string; accountId: string; name?: string | undefined };
export type Imported = { site_id: string; hostname: string; files: number; rows: Record<string, number> };
type Deps = { config: Config; clock: Clock };

/** Throws ExportFault, and has then changed nothing. */
export async function importSite(deps: Deps, { archive, accountId, name }: Wish): Promise<Imported> {
  const { config } = deps;
  await mkdir(config.dataDir, { recursive: true });
  const dir = await mkdtemp(join(config.dataDir, 'import-'));
  const client = new pg.Client({ connectionString: config.databaseUrl, application_name: 'frontage import' });
  // What is asked when a connection is lost says so itself.
  client.on('error', () => {});
  try {
    const unpacked = await unpackArchive(archive, dir);
    const { document } = unpacked;
    document.site.name = usableName(name ?? document.site.name);
    const redirects = usableRedirects(config, document);
    // What is asked when a connection is lost says so itself.
    client.on('error', () => {});
    await client.connect();
    const standing = await requireNew(client, document, accountId);
    const made = await makeRepositories(deps, unpacked, standing);
    try {
      await client.query('begin');
      // What does not fit together is found before files are put, which nobody would remove.
      await writeRows(client, deps, { document, accountId });
      await nameFiles(client, document, await putFiles(openStore(config), unpacked, redirects));
      for (const { aside, place } of made) {
        await mkdir(dirname(place), { recursive: true });
        await rename(aside, place);
      }
      await client.query('commit');
    } catch (error) {
      for (const { aside, place } of made)
        for (const path of [aside, place]) await rm(path, { recursive: true, force: true });
      throw error;
    }
    const rows = Object.entries(document.rows).map(([table, all]) => [table, all.length]);
    const hostname = siteHostname(config, document.site.name);
    return { site_id: document.site.id, hostname, files: unpacked.files.length, rows: Object.fromEntries(rows) };
  } finally {
    await client.end();
    await rm(dir, { recursive: true, force: true });
  }
}

function usableName(name: string): string {
  if (siteInput.shape.name.safeParse(name).success && !isReserved(name)) return name;
  throw new ExportFault(`${name} cannot be the name of a site here: say another with --name.`);
}

function usableRedirects(config: Config, { redirects, site }: SiteDocument) {
  try {
    const written = redirects.map(({ from, to, status }, index) => ({ name: `Rule ${index + 1}`, from, to, status }));
    return checkRedirects(written, siteAddress(config, site.name));
  } catch (error) {
    if (error instanceof AppError) throw refused(`its redirects: ${error.message}`);
    throw error;
  }
}

type Made = { aside: string; place: string };

/** Beside their places, judged as a push of all of it would be. */
async function makeRepositories({ config, clock }: Deps, unpacked: Unpacked, standing: string | null): Promise<Made[]> {
  const { document, path } = unpacked;
  const { repositoriesDir } = config;
  if (repositoriesDir === undefined) throw new ExportFault('This installation holds no repositories.');
  const repositories = openRepositories(repositoriesDir);
  const { limits, lift } = capsOf({ config, clock }, { standing });
  const made: Made[] = [];
  try {
    for (const repository of ['source', 'content'] as const) {
      const part = document.repositories[repository];
      if (!part) continue;
      const aside = join(repositoriesDir, '.making', randomUUID());
      made.push({ aside, place: repositories.place(document.site.id, repository).dir });
      await unpack(aside, [createReadStream(path.pack(repository))], ['--strict']).catch(() => {
        throw refused(`${repository}.pack is no sound repository`);
      });
      const commits = [...Object.values(part.refs), ...liveCommits(document, repository)];
      if ((await missingCommits(aside, commits)).length > 0) throw refused(`${repository}.pack lacks commits`);
      const rules = { repository, limits, lift, platform: readPlatformFiles() };
      const updates = Object.entries(part.refs).map(([ref, to]) => ({ ref, from: null, to }));
      // Files that the platform keeps are those of the installation it comes from; builds here use their own.
      const verdicts = (await judgePush(rules, { dir: aside }, updates, null)).filter(
        ({ code }) => code !== 'frozen_file',
      );
      if (verdicts[0]) throw refused(`its ${repository}: ${sentence(verdicts[0])}`);
      await writeRefs(aside, part.refs);
    }
    return made;
  } catch (error) {
    for (const { aside } of made) await rm(aside, { recursive: true, force: true });
    throw error;
  }
}

function liveCommits({ live }: SiteDocument, repository: Repository): string[] {
  const commit = repository === 'source' ? live?.source_commit : live?.content_commit;
  return commit ? [commit] : [];
}

/** Into the store, compressed as a build does. Until rows name them they are nobody's. */
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
