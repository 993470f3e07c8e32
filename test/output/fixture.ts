/** An API and an edge on one database and one store, and the hands to publish without a build. */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { goLive } from '#db/deployments/transitions.ts';
import { openNotifications } from '#db/notifications.ts';
import { createEdge } from '#edge/edge.ts';
import { listen } from '#edge/http/listener.ts';
import { openEdgeDatabase } from '#edge/routing/database.ts';
import { renderManifest } from '#providers/manifest.ts';
import { isCompressible } from '#providers/media-types.ts';
import { newId } from '#runtime/ids.ts';
import { type Caller, createFixture as createApiFixture } from '#test/api/fixture.ts';
import { type Answer, ask, type Files } from '#test/edge/fixture.ts';

export { createSite, errorOf } from '#test/api/fixture.ts';
export { until } from '#test/edge/fixture.ts';
export type { Answer, Caller };

export const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');

export async function createFixture(
  env: Record<string, string> = {},
  options: Parameters<typeof createApiFixture>[1] = {},
) {
  const api = await createApiFixture(env, options);
  const { config, deps, clock } = api;

  /** Starts an edge; answers how to ask it. */
  async function openEdge(baseUrl = config.baseUrl) {
    const notifications = openNotifications(config.databaseUrl, deps.log);
    const database = openEdgeDatabase(config.databaseUrl);
    const sitesFile = join(config.dataDir, 'edge', `${newId('out')}.db`);
    const parts = {
      baseDomain: config.baseDomain,
      baseUrl,
      store: deps.store,
      database,
      notifications,
      clock,
      log: deps.log,
      sitesFile,
    };
    const edge = createEdge({ ...parts, cacheBytes: 32 * 1024 * 1024 });
    await edge.ready;
    const listening = await listen(edge, { host: '127.0.0.1', port: 0, baseUrl: config.baseUrl });
    return {
      port: listening.port,
      visit: (name: string, path: string, headers: Record<string, string> = {}): Promise<Answer> =>
        ask(listening.port, path, { host: `${name}.${config.baseDomain}`, headers }),
      async close() {
        await listening.close();
        await edge.close();
        await Promise.all([notifications.close(), database.close()]);
      },
    };
  }
  const edge = await openEdge();

  let number = 1_000_000;
  /** Makes these files live on the site, as a build would. */
  async function publish(siteId: string, accountId: string, files: Files): Promise<string> {
    const lines = await Promise.all(
      Object.entries(files).map(async ([path, content]) => {
        const blob = await deps.store.put(Buffer.from(content), { compress: isCompressible(path) });
        return { path, sha256: blob.sha256, bytes: blob.bytes };
      }),
    );
    const manifest = await deps.store.put(renderManifest(lines));
    const id = newId('dep');
    const site = deps.em();
    const [{ last_ticket: ticket }] = await site.execute<[{ last_ticket: number }]>(
      'update site set last_ticket = last_ticket + 1 where id = ? returning last_ticket',
      [siteId],
    );
    const now = clock.now();
    number += 1;
    await site.execute(
      `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, file_count, created_by_id, created_at)
       values (?, ?, ?, 'site', 'ready', ?, 'http://site.test', ?, ?, ?, ?)`,
      [id, siteId, number, ticket, manifest.sha256, lines.length, accountId, now],
    );
    await goLive(deps.em(), clock, id);
    return id;
  }

  return {
    ...api,
    ...edge,
    openEdge,
    publish,
    async close() {
      await edge.close();
      await api.close();
    },
  };
}
export type Fixture = Awaited<ReturnType<typeof createFixture>>;
