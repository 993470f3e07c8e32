/**
 * A site of many files is deleted, and its worker killed after each step of the purge. Prints the seconds to each kill,
 * most of which are the wait for the activity of the worker that was killed before.
 */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSite } from '#test/api/fixture.ts';
import { createDeletionFixture, type DeletionFixture, dayMs } from '#test/deletion/fixture.ts';
import { openProcesses, type Processes } from '#test/stack/processes.ts';
import { isLong, sized } from './size.ts';

const fileCount = sized({ short: 500, long: 10_000 });
/** The next worker continues after 30 s, or after two minutes where the activity heartbeats. */
const steps = isLong
  ? [
      'settleSiteDeletion',
      'detachSite',
      'collectSiteFiles',
      'forgetSite',
      'removeSiteRepositories',
      'removeSiteFiles',
      'finishSitePurge',
    ]
  : ['detachSite', 'forgetSite', 'removeSiteFiles'];
const sharedCount = fileCount / 10;

let fixture: DeletionFixture;
let processes: Processes;
beforeAll(async () => {
  fixture = await createDeletionFixture({ worker: false });
  processes = openProcesses(fixture, { FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' });
}, 120_000);
afterAll(async () => {
  processes?.close();
  await fixture?.close();
});

async function startWorker(daysAhead: number, killAfter = ''): Promise<ChildProcess> {
  const env = { CLOCK_AHEAD: String(daysAhead * dayMs), KILL_AFTER: killAfter };
  const worker = processes.start('test/deletion/killed-worker.ts', env);
  await once(worker, 'message');
  return worker;
}

const pages = (words: string, count: number) =>
  Object.fromEntries(
    Array.from({ length: count }, (_, at) => [
      `${words.replaceAll(' ', '-')}/${at}.html`,
      `<!doctype html><title>${words} ${at}</title>${'<p>Text</p>'.repeat(20)}`,
    ]),
  );

/** What edges save, to start without the database. */
async function savedByEdges(): Promise<string> {
  const dir = join(fixture.config.dataDir, 'edge');
  const files = await readdir(dir);
  return (await Promise.all(files.map((name) => readFile(join(dir, name), 'utf8')))).join();
}

test(`a site of ${fileCount} files leaves receipts alone, though its worker is killed`, {
  timeout: 3_600_000,
}, async () => {
  const full = await fixture.fullSite(10);
  const { owner, site } = full;
  // Its own host serves it, and does not redirect to the domain.
  await fixture.deps.em().execute('update domain set is_primary = false where id = ?', [full.domain.id]);
  const neighbour = await fixture.newCaller();
  const other = await createSite(neighbour);
  const shared = pages('shared', sharedCount);
  await fixture.publish(other.id, neighbour.accountId, { 'index.html': '<p>Other', ...shared });
  const home = { 'index.html': `<p>${site.name}` };
  await fixture.publish(site.id, owner.accountId, { ...home, ...shared, ...pages('own', fileCount - sharedCount) });
  const [all, kept] = [await fixture.hashesOf(site.id), await fixture.hashesOf(other.id)];
  const gone = [...all].filter((hash) => !kept.has(hash));
  expect(gone.length).toBeGreaterThanOrEqual(fileCount - sharedCount);
  const visited = ['/', '/own/0', `/own/${fileCount - sharedCount - 1}`, '/shared/0'];
  for (const path of visited) await expect.poll(async () => (await fixture.visit(site.name, path)).status).toBe(200);
  await fixture.ageStore();

  let worker = await startWorker(0);
  await fixture.startDeletion(full);
  for (const path of visited) await expect.poll(async () => (await fixture.visit(site.name, path)).status).toBe(410);
  expect((await fixture.deps.store.sizes([...all])).size).toBe(all.size);
  await processes.killed(worker);
  fixture.skip(31 * dayMs);
  const seconds: Record<string, number> = {};
  for (const [at, step] of steps.entries()) {
    const began = performance.now();
    worker = await startWorker(31, step);
    // As the workflow's own timer would: the engine's clock cannot be moved.
    if (at === 0) await fixture.workflowOf(site.id).signal('moved');
    const [, signal] = await once(worker, 'exit');
    expect([step, signal]).toEqual([step, 'SIGKILL']);
    seconds[step] = Math.round((performance.now() - began) / 1000);
  }
  worker = await startWorker(31);
  expect(await fixture.workflowOf(site.id).result()).toEqual({ status: 'purged' });
  await processes.killed(worker);

  await fixture.expectGone(full);
  expect((await fixture.deps.store.sizes(gone)).size).toBe(0);
  expect((await fixture.deps.store.sizes([...kept])).size).toBe(kept.size);
  await expect.poll(savedByEdges).not.toContain(site.id);
  const newEdge = await fixture.openEdge();
  for (const { visit } of [fixture, newEdge]) {
    for (const path of visited) await expect.poll(async () => (await visit(site.name, path)).status).toBe(404);
    expect((await visit(other.name, '/shared/0')).text).toContain('shared 0');
  }
  await newEdge.close();
  await full.close();
  console.log(JSON.stringify({ files: all.size, removed: gone.length, kept: kept.size, seconds }));
});
