/**
 * A site as one archive. Rows are read in one snapshot, then repositories and files. Everything that can fail for a
 * damaged site is checked before the first byte.
 */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { type Pack, pack } from 'tar-stream';
import { ownerBlockedReason } from '#db/sites/blocks.ts';
import own from '#package.json' with { type: 'json' };
import { parseManifest } from '#providers/manifest.ts';
import { packAll, type Refs, readRefs } from '#providers/repositories/packs.ts';
import { openRepositories } from '#providers/repositories.ts';
import { spoolFile } from '#providers/store/spool-file.ts';
import type { Store } from '#providers/store/store.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { addTarEntry } from '#runtime/tar-entry.ts';
import {
  ExportFault,
  isMade,
  type RowTable,
  rowSchemas,
  type SiteDocument,
  siteColumns,
  siteDocument,
  visitorTables,
} from './document.ts';

type Deps = { config: Config; clock: Clock; store: Store };

/** `spoolDir` holds the repositories until they are sent. `signal` stops git when the caller has left. */
export type ArchiveRequest = { siteId: string; withVisitors: boolean; spoolDir: string; signal?: AbortSignal };

export type SiteArchive = {
  /** A tar. Destroy it if it is not read to its end. */
  content: Readable;
  files: number;
  rows: Record<string, number>;
};

/** Throws ExportFault. */
export async function openSiteArchive(deps: Deps, asked: ArchiveRequest): Promise<SiteArchive> {
  const { config, clock, store } = deps;
  const read = await readSite(config.databaseUrl, asked.siteId, asked.withVisitors);
  const blobs = await blobsOf(store, read);
  const redirects = read.redirectsSha256 ? JSON.parse(String(await wholeBlob(store, read.redirectsSha256))) : [];
  const packs = await spoolRepositories(config, asked, read.site);
  const document: SiteDocument = siteDocument.parse({
    format: 1,
    version: own.version,
    exported_at: clock.now().toISOString(),
    from: { base_url: config.baseUrl, hostname: siteHostname(config, read.site.name) },
    site: read.site,
    live: read.live,
    redirects,
    repositories: Object.fromEntries(
      packs.map(({ repository, refs, spool }) => [repository, { refs, pack: spool.sha256 }]),
    ),
    rows: read.rows,
  });
  const tar = pack();
  const written = writeEntries(tar, store, { blobs, packs, document });
  // Ends also when `content` is destroyed.
  void written.catch((error) => tar.destroy(error)).then(() => closeAll(packs));
  const rows = Object.entries(document.rows).map(([name, all]) => [name, all.length]);
  // A stream that is destroyed before its first read does not end its source.
  const content = Readable.from(tar, { objectMode: false }).once('close', () => tar.destroy());
  return { content, files: blobs.size, rows: Object.fromEntries(rows) };
}

type Spooled = { repository: Repository; refs: Refs; spool: Awaited<ReturnType<typeof spoolFile>> };

async function writeEntries(
  tar: Pack,
  store: Store,
  { blobs, packs, document }: { blobs: Map<string, number>; packs: Spooled[]; document: SiteDocument },
): Promise<void> {
  for (const [sha256, bytes] of blobs) {
    const content = await store.read(sha256);
    if (!content) throw missingBlob(sha256);
    await addBlob(tar, sha256, bytes, content);
  }
  for (const { repository, spool } of packs)
    await pipeline(spool.parts(), tar.entry({ name: `${repository}.pack`, size: spool.bytes }));
  await addTarEntry(tar, { name: 'site.json' }, JSON.stringify(document));
  tar.finalize();
}

type Read = Pick<SiteDocument, 'site' | 'live' | 'rows'> & { redirectsSha256: string | null };

/** How to find the rows of tables without a site id. */
const within: Partial<Record<RowTable, string>> = {
  submission: 'form_id in (select id from form where site_id = $1)',
  comment_message: 'thread_id in (select id from comment_thread where site_id = $1)',
};

/**
 * If the owner's account is blocked, the exported site is blocked, because the importing installation does not know the
 * account.
 */
const blocked = `case when blocked_at is not null then jsonb_build_object('at', blocked_at, 'reason', block_reason)
  when owner_blocked_at is not null then jsonb_build_object('at', owner_blocked_at, 'reason', $2::text) end`;

const exportedColumns = Object.keys(siteColumns)
  .map((name) => `'${name}', ${name}`)
  .join(', ');

async function readSite(databaseUrl: string, siteId: string, withVisitors: boolean): Promise<Read> {
  const client = new pg.Client({ connectionString: databaseUrl, application_name: 'frontage export' });
  // A query reports a lost connection itself.
  client.on('error', () => {});
  await client.connect();
  try {
    await client.query('begin isolation level repeatable read read only');
    const { rows: found } = await client.query(
      `select jsonb_strip_nulls(jsonb_build_object(${exportedColumns}, 'archived_at', archived_at, 'blocked', ${blocked})) as site,
         redirects_sha256 as "redirectsSha256", live_deployment_id as live from site where id = $1`,
      [siteId, ownerBlockedReason],
    );
    if (!found[0]) throw new ExportFault('There is no site with this id.');
    const { rows: live } = await client.query(
      `select jsonb_build_object('id', id, 'manifest', manifest_sha256, 'source_commit', source_commit, 'content_commit', content_commit,
         'site_url', site_url, 'live_at', live_at) as live from deployment where id = $1`,
      [found[0].live],
    );
    const rows: Partial<Record<RowTable, unknown[]>> = {};
    for (const table of Object.keys(rowSchemas) as RowTable[])
      rows[table] = withVisitors || !visitorTables.includes(table) ? await readTable(client, table, siteId) : [];
    const { site, redirectsSha256 } = found[0];
    return { site, redirectsSha256, live: live[0]?.live ?? null, rows: rows as SiteDocument['rows'] };
  } finally {
    await client.end();
  }
}

async function readTable(client: pg.Client, table: RowTable, siteId: string): Promise<unknown[]> {
  const columns = Object.keys(rowSchemas[table].shape)
    // Payments are not exported, so unpaid holds become expired.
    .map((name) =>
      table === 'booking' && name === 'status' ? `replace(status, 'held', 'expired') as status` : `"${name}"`,
    )
    .join(', ');
  const order = table === 'bookable' ? 'site_id' : 'id';
  const { rows } = await client.query<{ row: unknown }>(
    `select to_jsonb(one) as row from (select ${columns} from ${table} where ${within[table] ?? 'site_id = $1'} order by ${order}) as one`,
    [siteId],
  );
  return rows.map(({ row }) => row);
}

async function wholeBlob(store: Store, sha256: string): Promise<Buffer> {
  const bytes = await store.readAll(sha256);
  if (!bytes) throw missingBlob(sha256);
  return bytes;
}

/** The files of the live version and the pictures of comments, with their sizes. */
async function blobsOf(store: Store, { live, rows }: Read): Promise<Map<string, number>> {
  const wanted = new Set<string>(rows.comment_thread.flatMap(({ picture_sha256: picture }) => picture ?? []));
  if (live) {
    wanted.add(live.manifest);
    for (const { sha256 } of parseManifest(await wholeBlob(store, live.manifest))) wanted.add(sha256);
  }
  const sizes = await store.sizes([...wanted]);
  for (const sha256 of wanted) if (!sizes.has(sha256)) throw missingBlob(sha256);
  return sizes;
}

const missingBlob = (sha256: string) =>
  new ExportFault(`One of the site’s files is missing from the store: ${sha256}.`);

async function addBlob(tar: Pack, sha256: string, size: number, content: Readable): Promise<void> {
  const hash = createHash('sha256');
  async function* hashed() {
    for await (const chunk of content) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  }
  await pipeline(hashed(), tar.entry({ name: `blobs/${sha256}`, size }));
  if (hash.digest('hex') !== sha256)
    throw new ExportFault(`One of the site’s files in the store is corrupt: ${sha256}.`);
}

async function spoolRepositories(config: Config, asked: ArchiveRequest, site: Read['site']): Promise<Spooled[]> {
  const packs: Spooled[] = [];
  try {
    for (const repository of ['source', 'content'] as const)
      packs.push(await spoolRepository(config, asked, site, repository));
    return packs;
  } catch (error) {
    await closeAll(packs);
    throw error;
  }
}

async function spoolRepository(
  config: Config,
  { siteId, spoolDir, signal }: ArchiveRequest,
  site: Read['site'],
  repository: Repository,
): Promise<Spooled> {
  if (config.repositoriesDir === undefined) throw new ExportFault('This installation has no repositories.');
  const repositories = openRepositories(config.repositoriesDir);
  if (!(await repositories.exists(siteId, repository)))
    throw new ExportFault(
      `The site’s ${repository} repository is missing. Check that the repositories folder is accessible.`,
    );
  const git = {
    ...repositories.place(siteId, repository),
    watch: (child: { kill(signal: 'SIGKILL'): void }) => signal?.addEventListener('abort', () => child.kill('SIGKILL')),
  };
  signal?.throwIfAborted();
  const refs = await readRefs(git);
  if (!isMade(site, refs)) throw new ExportFault(`The site’s ${repository} repository has no main branch.`);
  return { repository, refs, spool: await packAll(git, (content) => spoolFile(spoolDir, content)) };
}

async function closeAll(packs: Spooled[]): Promise<void> {
  for (const { spool } of packs) await spool.close();
}
