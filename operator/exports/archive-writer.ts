/** Exports a site as one archive. Rows are read in one snapshot, then files and repositories. */
import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { mkdtemp, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import pg from 'pg';
import { type Pack, pack } from 'tar-stream';
import { ownerBlockedReason } from '#db/sites/blocks.ts';
import { packAll, readRefs } from '#operator/backups/repositories.ts';
import own from '#package.json' with { type: 'json' };
import { parseManifest } from '#providers/manifest.ts';
import { openRepositories } from '#providers/repositories.ts';
import { createStore } from '#providers/store/factory.ts';
import type { Store } from '#providers/store/store.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import {
  ExportFault,
  type RowTable,
  rowSchemas,
  type SiteDocument,
  siteColumns,
  siteDocument,
  visitorTables,
} from './document.ts';

export type Exported = { site_id: string; files: number; bytes: number; rows: Record<string, number> };

/** `into` is a file that does not exist yet. Throws ExportFault. */
export async function exportSite(
  { config, clock }: { config: Config; clock: Clock },
  { siteId, into, withVisitors }: { siteId: string; into: string; withVisitors: boolean },
): Promise<Exported> {
  if (await stat(into).catch(() => undefined)) throw new ExportFault(`${into} already exists.`);
  const store = createStore(config);
  const read = await readSite(config.databaseUrl, siteId, withVisitors);
  const aside = await mkdtemp(join(dirname(into), '.export-'));
  try {
    const tar = pack();
    const archive = join(aside, 'site.tar');
    const written = pipeline(tar, createWriteStream(archive, { mode: 0o600, flush: true }));
    written.catch(() => {});
    const files = await addBlobs(tar, store, read);
    const repositories = await addRepositories(tar, config, siteId, aside);
    const document: SiteDocument = siteDocument.parse({
      format: 1,
      version: own.version,
      exported_at: clock.now().toISOString(),
      from: { base_url: config.baseUrl, hostname: siteHostname(config, read.site.name) },
      site: read.site,
      live: read.live,
      redirects: read.redirectsSha256 ? JSON.parse(String(await wholeBlob(store, read.redirectsSha256))) : [],
      repositories,
      rows: read.rows,
    });
    tar.entry({ name: 'site.json' }, JSON.stringify(document));
    tar.finalize();
    await written;
    await rename(archive, into);
    const rows = Object.entries(document.rows).map(([name, all]) => [name, all.length]);
    return { site_id: siteId, files, bytes: (await stat(into)).size, rows: Object.fromEntries(rows) };
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
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
  if (!bytes) throw new ExportFault(`One of the site’s files is missing from the store: ${sha256}.`);
  return bytes;
}

async function addBlobs(tar: Pack, store: Store, { live, rows }: Read): Promise<number> {
  const wanted = new Set<string>(rows.comment_thread.flatMap(({ picture_sha256: picture }) => picture ?? []));
  if (live) {
    wanted.add(live.manifest);
    for (const { sha256 } of parseManifest(await wholeBlob(store, live.manifest))) wanted.add(sha256);
  }
  const sizes = await store.sizes([...wanted]);
  for (const sha256 of wanted) {
    const content = await store.read(sha256);
    const size = sizes.get(sha256);
    if (!content || size === undefined)
      throw new ExportFault(`One of the site’s files is missing from the store: ${sha256}.`);
    await addEntry(tar, `blobs/${sha256}`, size, content, sha256);
  }
  return wanted.size;
}

async function addEntry(tar: Pack, name: string, size: number, content: Readable, sha256?: string): Promise<string> {
  const hash = createHash('sha256');
  const entry = tar.entry({ name, size });
  async function* hashed() {
    for await (const chunk of content) {
      hash.update(chunk as Buffer);
      yield chunk as Buffer;
    }
  }
  await pipeline(hashed(), entry);
  const digest = hash.digest('hex');
  if (sha256 !== undefined && digest !== sha256)
    throw new ExportFault(`One of the site’s files in the store is corrupt: ${sha256}.`);
  return digest;
}

async function addRepositories(tar: Pack, config: Config, siteId: string, aside: string) {
  if (config.repositoriesDir === undefined) throw new ExportFault('This installation has no repositories.');
  const repositories = openRepositories(config.repositoriesDir);
  const add = async (repository: Repository) => {
    if (!(await repositories.exists(siteId, repository)))
      throw new ExportFault(
        `The site’s ${repository} repository is missing. Check that the repositories folder is accessible.`,
      );
    const git = repositories.place(siteId, repository);
    const refs = await readRefs(git);
    if (!('refs/heads/main' in refs)) throw new ExportFault(`The site’s ${repository} repository has no main branch.`);
    const path = join(aside, repository);
    await packAll(git, (content) => pipeline(content, createWriteStream(path)));
    const { size } = await stat(path);
    return { refs, pack: await addEntry(tar, `${repository}.pack`, size, createReadStream(path)) };
  };
  return { source: await add('source'), content: await add('content') };
}
