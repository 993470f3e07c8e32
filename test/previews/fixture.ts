/** The API, a worker whose builds copy, and an edge, with hands on the slots of a site. */
import { join } from 'node:path';
import { expect, vi } from 'vitest';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import { createEdge } from '#edge/edge.ts';
import { listen } from '#edge/http/listener.ts';
import { openEdgeDatabase } from '#edge/routing/database.ts';
import type { Change } from '#providers/repositories.ts';
import type { Limits } from '#rules/limit-names.ts';
import type { Repository } from '#rules/states.ts';
import { builder, type Caller, createFixture, createSite } from '#test/api/fixture.ts';
import { type Ask, ask } from '#test/edge/fixture.ts';
import { aroundActivities, createNamespace, startWorker } from '#test/stack/worker.ts';
import { createCopying } from './copying.ts';

// A history of a slot is several builds and merges, each of which waits for the workflow engine.
vi.setConfig({ testTimeout: 60_000 });

export type Site = { id: string; name: string };
type Options = { limits?: Partial<Limits>; env?: Record<string, string>; worker?: boolean };

const author = { name: 'Ada', email: 'ada@example.com' };
export const path = (site: Site, slot: number | string, act = '') => `/v1/sites/${site.id}/previews/${slot}${act}`;

export async function createPreviewFixture({ limits = {}, env = {}, worker = true }: Options = {}) {
  const named = { TEMPORAL_NAMESPACE: await createNamespace(), ...env };
  const api = await createFixture(named, {
    limits: { publishes_per_hour: 1e6, previews_per_hour: 1e6, build_seconds_per_hour: 1e6, ...limits },
  });
  const { deps, config } = api;
  const owner = await api.newCaller();
  const copying = createCopying();
  const { around, interceptors } = aroundActivities();
  const running = worker ? await startWorker(deps, { sandbox: copying.sandbox, interceptors }) : undefined;
  const database = openEdgeDatabase(config.databaseUrl);
  const sitesFile = join(config.dataDir, 'edge', 'sites.db');
  const cacheBytes = 16 * 1024 * 1024;
  const parts = { baseDomain: config.baseDomain, store: deps.store, notifications: deps.notifications, log: deps.log };
  const edge = createEdge({ ...parts, database, clock: api.clock, sitesFile, cacheBytes });
  await edge.ready;
  const listening = await listen(edge, { host: '127.0.0.1', port: 0 });
  const repositories = deps.repositories;
  if (!repositories) throw new Error('the world has repositories');

  /** Writes to a branch, which a slot's own is made by, as a push would. Answers the commit. */
  async function write(
    site: Site,
    branch: string,
    files: Record<string, string | null>,
    repository: Repository = 'source',
  ): Promise<string> {
    const tip = await repositories?.head(site.id, repository, branch);
    const main = (await repositories?.head(site.id, repository)) ?? null;
    if (!tip) await repositories?.move(site.id, [{ repository, branch, from: null, to: main }]);
    const changes: Change[] = Object.entries(files).map(([at, text]) => ({
      path: at,
      bytes: text === null ? null : Buffer.from(text),
    }));
    const commit = { branch, parent: tip ?? main, message: 'Write', author, at: api.clock.now(), changes };
    const made = await repositories?.commit(site.id, repository, commit);
    if (!made) throw new Error('the branch moved meanwhile');
    return made;
  }

  const wait = { headers: { prefer: 'wait=50' } };
  const call = (site: Site, slot: number | string, act = '', caller: Caller = owner) =>
    caller.call('POST', path(site, slot, act), wait);

  /** What visitors get, at the site's host or at the address of a preview. */
  const visit = (at: Site | string, asked: string, how: Ask = {}) =>
    ask(listening.port, asked, {
      ...how,
      host: typeof at === 'string' ? new URL(at).host : `${at.name}.${config.baseDomain}`,
    });

  return {
    ...api,
    owner,
    /** Of the edge. */
    edgePort: listening.port,
    /** Lets time pass, in which builders were there. */
    async skip(ms: number) {
      api.skip(ms);
      await recordBuilderPresence(deps.em(), api.clock, builder);
    },
    copying,
    around,
    repositories,
    write,
    newSite: (): Promise<Site> => createSite(owner),
    build: (site: Site, slot: number | string) => call(site, slot),
    update: (site: Site, slot: number | string) => call(site, slot, '/update'),
    publish: (site: Site, slot: number | string) => call(site, slot, '/publish'),
    read: (site: Site, slot: number | string) => owner.call('GET', path(site, slot)),
    clear: (site: Site, slot: number | string, query = '') => owner.call('DELETE', path(site, slot, query)),
    publishSite: (site: Site) => owner.call('POST', `/v1/sites/${site.id}/publish`, { body: {}, ...wait }),
    visit,
    /** Holds once visitors of the page read the words. */
    async isServed(at: Site | string, asked: string, words: string) {
      await expect.poll(async () => (await visit(at, asked)).text, { interval: 20 }).toContain(words);
    },
    async close() {
      await listening.close();
      await edge.close();
      await database.close();
      await running?.close();
      await api.close();
    },
  };
}
export type PreviewFixture = Awaited<ReturnType<typeof createPreviewFixture>>;

export const page = (words: string) => `<!doctype html><body><h1>${words}</h1></body>`;
export const draftPost = (words: string) => `---\ntitle: Plans\ndate: 2026-01-02\ndraft: true\n---\n${words}\n`;
