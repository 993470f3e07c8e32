/** A builds worker as docker-compose.yml runs it: a process of its own, with the database role of builds. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { claimBuild } from '#db/deployments/queue.ts';
import { Preview } from '#db/previews/preview.ts';
import { storeDraft } from '#db/previews/transitions.ts';
import type { Repository } from '#rules/states.ts';
import { createDeps } from '#runtime/deps.ts';
import { type Caller, createFixture, createSite, type Fixture } from '#test/api/fixture.ts';
import { createBuildsRole, query } from '#test/db/roles.ts';
import { dataDir } from '#test/sandbox/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { freePort } from '#tools/local/ports.ts';
import { startNodeProcess } from '#tools/local/services/node-process.ts';
import { acceptedDraft } from './acceptance.ts';

const draftPost = '---\ntitle: Plans\ndescription: Plans\ndate: 2026-01-02\ndraft: true\n---\nSoon.\n';

describe('with a database role of its own', { tags: 'bubblewrap' }, () => {
  let fixture: Fixture;
  let role: Awaited<ReturnType<typeof createBuildsRole>>;
  let platform: Awaited<ReturnType<typeof startWorker>>;
  let builds: Awaited<ReturnType<typeof startNodeProcess>>;
  let owner: Caller;
  let metricsPort: number;
  let logFile: string;
  beforeAll(async () => {
    fixture = await createFixture({ TEMPORAL_NAMESPACE: await createNamespace() }, { builders: false });
    const { config, database } = fixture;
    role = await createBuildsRole(database.url);
    owner = await fixture.newCaller();
    platform = await startWorker(fixture.deps);
    metricsPort = await freePort();
    logFile = join(config.dataDir, 'logs', 'builds.log');
    await mkdir(join(config.dataDir, 'logs'));
    builds = await startNodeProcess({
      name: 'builds',
      entry: 'worker/worker.ts',
      logFile,
      env: {
        PATH: process.env.PATH,
        DATABASE_URL: role.url,
        TEMPORAL_ADDRESS: config.temporal.address,
        TEMPORAL_NAMESPACE: config.temporal.namespace,
        FRONTAGE_DATA: dataDir,
        FRONTAGE_STORE: config.storeDir,
        FRONTAGE_SECRET: 'a secret that no other process has',
        FRONTAGE_SEALING_KEYS: 'none',
        FRONTAGE_QUEUES: 'builds',
        FRONTAGE_REPOSITORIES: 'none',
        FRONTAGE_SANDBOX: 'bubblewrap',
        FRONTAGE_WARM_SANDBOXES: '0',
        FRONTAGE_BUILD_SLOTS: '2',
        FRONTAGE_METRICS_PORT: String(metricsPort),
      },
    });
  }, 300_000);
  afterAll(async () => {
    await builds?.kill();
    await platform?.close();
    await role?.drop();
    await fixture?.close();
  });

  const slow = { timeout: 300_000 };
  const later = { prefer: 'respond-async' };
  const rows = (text: string, ...values: unknown[]) => query(fixture.database.url, text, values);
  const post = (path: string, body: unknown = {}, headers: Record<string, string> = { prefer: 'wait=50' }) =>
    owner.call('POST', path, { body, headers });

  async function commit(siteId: string, path: string, text: string): Promise<void> {
    const made = await post(`/v1/sites/${siteId}/commits`, { message: 'Change it', changes: [{ path, text }] });
    expect(made.status, made.text).toBe(200);
  }

  /** To the branch of the first slot, which begins at `main`. */
  async function write(siteId: string, repository: Repository, path: string, text: string): Promise<void> {
    const { deps, clock } = fixture;
    const branch = 'preview/1';
    const main = (await deps.repositories?.head(siteId, repository)) ?? null;
    const tip = await deps.repositories?.head(siteId, repository, branch);
    if (!tip) await deps.repositories?.move(siteId, [{ repository, branch, from: null, to: main }]);
    const author = { name: 'Ada', email: 'ada@example.com' };
    const changes = [{ path, bytes: Buffer.from(text) }];
    const parent = tip ?? main;
    await deps.repositories?.commit(siteId, repository, {
      branch,
      parent,
      message: 'Write',
      author,
      at: clock.now(),
      changes,
    });
  }

  async function ended(id: string): Promise<string> {
    const read = async () => (await owner.call('GET', `/v1/deployments/${id}`)).body;
    const isOver = /^(live|retired|superseded|failed|cancelled|ready)$/;
    await expect.poll(async () => (await read()).status, { timeout: 120_000, interval: 200 }).toMatch(isOver);
    const { status, error } = await read();
    return error ? `${status}: ${error.code}` : status;
  }

  async function publish(siteId: string): Promise<string> {
    const { body, text } = await post(`/v1/sites/${siteId}/publish`);
    expect(body.id, text).toBeDefined();
    return await ended(body.id);
  }

  test('publishes go live, again with a cache, and fail with their log', slow, async () => {
    const site = await createSite(owner, { template: 'blank' });
    expect(await publish(site.id)).toBe('live');
    await commit(site.id, 'src/content/posts/one.md', draftPost.replace('draft: true\n', ''));
    expect(await publish(site.id)).toBe('live');
    await commit(site.id, 'src/pages/broken.astro', '---\nthrow new Error("as the owner wrote it");\n---\n');
    const { body } = await post(`/v1/sites/${site.id}/publish`, {}, later);
    expect(await ended(body.id)).toBe('failed: build_failed');
    expect((await owner.call('GET', `/v1/deployments/${body.id}/log`)).text).toContain('as the owner wrote it');
  });

  test('of several publishes at once the last goes live on each site', slow, async () => {
    // A site of one page builds in half the time.
    const newSite = async () => {
      const site = await createSite(owner, { template: null });
      await commit(site.id, 'src/pages/index.astro', '<h1>Plain</h1>');
      return site;
    };
    const [first, second] = [await newSite(), await newSite()];
    const made = [];
    for (const { id } of [first, first, second])
      made.push((await post(`/v1/sites/${id}/publish`, {}, later)).body.id as string);
    const [overtaken, ...last] = await Promise.all(made.map(ended));
    expect(overtaken).toMatch(/^(live|retired|superseded)$/);
    expect(last).toEqual(['live', 'live']);
  });

  test('a preview with a draft post is built, built again, and published', slow, async () => {
    const site = await createSite(owner, { template: 'blank' });
    await write(site.id, 'content', 'posts/plans.md', draftPost);
    for (const words of ['First', 'Second']) {
      await write(site.id, 'source', 'src/pages/words.astro', `<h1>${words}</h1>`);
      const built = await post(`/v1/sites/${site.id}/previews/1`);
      expect(built.body, built.text).toMatchObject({ status: 'draft' });
    }
    const live = await post(`/v1/sites/${site.id}/previews/1/publish`);
    expect(await ended(live.body.id), live.text).toBe('live');
  });

  test('the draft of a preview that was removed meanwhile gets a new address', async () => {
    const site = await createSite(owner, { template: 'blank' });
    const { id } = await acceptedDraft(fixture.deps, { siteId: site.id, createdBy: owner.accountId, slot: 1 });
    await claimBuild(fixture.deps.em(), fixture.clock, id);
    await rows('update preview set removed_at = now() where latest_id = $1', id);
    const deps = createDeps({ ...fixture.config, databaseUrl: role.url }, { name: 'builds', log: fixture.deps.log });
    try {
      const output = { manifestSha256: 'a'.repeat(64), fileCount: 1, totalBytes: 1 };
      await storeDraft(deps.em(), deps.clock, id, { output, publishedOutput: null, image: 'an image' });
      await expect(deps.em().findOneOrFail(Preview, { latestId: id, removedAt: null })).rejects.toThrow(
        'permission denied',
      );
    } finally {
      await deps.close();
    }
    const previews = await fixture.deps.em().find(Preview, { site: site.id });
    expect(previews.map(({ removedAt, deploymentId }) => [removedAt === null, deploymentId])).toEqual(
      expect.arrayContaining([
        [true, id],
        [false, null],
      ]),
    );
  });

  test('a sketch is shown, which needs no build', async () => {
    const direction = { name: 'Warm', html: '<!doctype html><title>Idea</title><h1>Idea</h1>' };
    const { body, text } = await post('/v1/sketches', { title: 'Idea', directions: [direction] }, {});
    expect(body.status, text).toBe('shown');
    const scanned = () => rows('select 1 from sketch where scanned_at is not null');
    await expect.poll(scanned, { interval: 50 }).toHaveLength(1);
  });

  test('orphans are looked for, and metrics count the process alone', slow, async () => {
    const { workflow } = fixture.deps.temporal;
    const swept = { taskQueue: 'platform', workflowId: 'sweep-orphans-now', args: [] };
    await workflow.execute('sweepOrphans', swept);
    const metrics = await fetch(`http://127.0.0.1:${metricsPort}/metrics`);
    expect(metrics.status).toBe(200);
    const text = await metrics.text();
    expect(text).toContain('frontage_builds_total');
    expect(text).not.toContain('frontage_mails_waiting');
  });

  test('the worker is announced until it stops, and nothing was refused to it', slow, async () => {
    const announced = () => rows(`select 1 from capacity where sandbox = 'bubblewrap'`);
    expect(await announced()).toHaveLength(1);
    await builds.stop();
    expect(await announced()).toHaveLength(0);
    expect(await readFile(logFile, 'utf8')).not.toMatch(/permission denied|could not be/);
  });
});
