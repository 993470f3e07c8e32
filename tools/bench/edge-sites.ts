/** A database and a store with published sites, for edges to serve. */
import { join } from 'node:path';
import pg from 'pg';
import { migrate } from '#db/migrate.ts';
import { type ManifestFile, renderManifest } from '#providers/manifest.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import { systemClock } from '#runtime/clock.ts';
import { newId, newPublicId } from '#runtime/ids.ts';
import { startPostgres } from '#tools/local/services/postgres.ts';

/** The edge's default base domain. */
export const domain = 'sites.localhost';

export type Sites = Awaited<ReturnType<typeof startSites>>;

export async function startSites(dir: string) {
  const store = createDiskStore(join(dir, 'store'));
  const postgres = await startPostgres({ dir: join(dir, 'postgres'), durable: false });
  const db = new pg.Pool({ connectionString: postgres.url, max: 2 });
  // Stopping the server breaks connections that were just released.
  db.on('error', () => {});
  await migrate(postgres.url);
  const account = newId('acct');
  const insert = `insert into account (id, name, email, created_at) values ($1, 'Bench', 'bench@example.test', $2)`;
  await db.query(insert, [account, systemClock.now()]);
  let ticket = 0;

  /** Stores these files; returns their lines of a manifest. */
  function put(files: { path: string; content: Buffer }[]): Promise<ManifestFile[]> {
    return Promise.all(
      files.map(async ({ path, content }) => {
        const { sha256, bytes } = await store.put(content);
        return { path, sha256, bytes };
      }),
    );
  }

  async function keepManifest(lines: ManifestFile[]): Promise<string> {
    return (await store.put(renderManifest(lines))).sha256;
  }

  /** Creates a site and makes the manifest live; returns the site's id. */
  async function publish(name: string, manifest: string): Promise<string> {
    const id = newId('site');
    await db.query(
      `insert into site (id, account_id, name, title, template, status, public_id, created_at)
       values ($1, $2, $3, $3, 'blank', 'active', $4, $5)`,
      [id, account, name, newPublicId(), systemClock.now()],
    );
    await goLive(id, manifest);
    return id;
  }

  async function goLive(siteId: string, manifest: string): Promise<void> {
    const id = newId('dep');
    ticket += 1;
    await db.query(
      `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, created_by_id, created_at, live_at)
       values ($1, $2, $3, 'site', 'retired', $3, 'http://bench.test', $4, $5, $6, $6)`,
      [id, siteId, ticket, manifest, account, systemClock.now()],
    );
    await db.query('update site set live_deployment_id = $2 where id = $1', [siteId, id]);
  }

  return {
    databaseUrl: postgres.url,
    put,
    keepManifest,
    keep: async (files: { path: string; content: Buffer }[]) => keepManifest(await put(files)),
    publish,
    goLive,
    query: async (sql: string, values: unknown[] = []) => (await db.query(sql, values)).rows,
    async stop() {
      await db.end();
      await postgres.stop();
    },
  };
}
