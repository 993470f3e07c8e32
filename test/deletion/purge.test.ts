/** The purge of a site after its 30 days: what is gone, what stays, and that it ends whatever happens to its steps. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest';
import type { Settled } from '#db/deadlines.ts';
import { freeNames } from '#db/sites/deletion.ts';
import { detachSiteDomains } from '#db/sites/purge.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { createSite, errorOf } from '#test/api/fixture.ts';
import { activityFaults, faultsOf } from '#test/publishing/activity-faults.ts';
import { createDeletionFixture, type DeletionFixture, dayMs } from './fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

const fileCount = 60;
const steps = [
  'settleSiteDeletion',
  'detachSite',
  'collectSiteFiles',
  'forgetSite',
  'removeSiteRepositories',
  'removeSiteFiles',
  'finishSitePurge',
];

let fixture: DeletionFixture;
beforeAll(async () => {
  fixture = await createDeletionFixture();
}, 120_000);
afterEach(() => fixture.around.clear());
afterAll(() => fixture?.close());

test('a purge removes everything of the site except receipts, domains and shared files', async () => {
  const full = await fixture.fullSite(fileCount);
  const { owner, site, shared } = full;
  const [hashes, neighbour] = [await fixture.hashesOf(site.id), await fixture.newCaller()];
  expect(hashes.size).toBeGreaterThan(fileCount);
  const other = await createSite(neighbour);
  await fixture.publish(other.id, neighbour.accountId, { 'index.html': '<p>Other', 'shared.html': shared });
  const kept = await fixture.hashesOf(other.id);
  await fixture.ageStore();
  await fixture.startDeletion(full);
  await expect.poll(async () => (await fixture.visit(site.name, '/')).status).toBe(410);
  fixture.skip(29 * dayMs);
  await fixture.workflowOf(site.id).signal('moved');
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body.status).toBe('deleting');
  expect((await fixture.deps.store.sizes([...hashes])).size).toBe(hashes.size);

  await fixture.purge(site.id);
  await fixture.expectGone(full);
  const gone = [...hashes].filter((hash) => !kept.has(hash));
  expect(gone.length).toBeGreaterThan(fileCount);
  expect((await fixture.deps.store.sizes(gone)).size).toBe(0);
  expect((await fixture.deps.store.sizes([...kept])).size).toBe(kept.size);
  await expect.poll(async () => (await fixture.visit(site.name, '/')).status).toBe(404);
  expect((await fixture.visit(other.name, '/shared.html')).status).toBe(200);
  const edges = await readdir(join(fixture.config.dataDir, 'edge'));
  const saved = async () =>
    (await Promise.all(edges.map((name) => readFile(join(fixture.config.dataDir, 'edge', name), 'utf8')))).join();
  await expect.poll(saved).not.toContain(site.id);
  await full.close();
});

test.each(faultsOf(0))('a purge ends as usual where each of its steps %s', async (fault) => {
  const full = await fixture.fullSite(10);
  const hashes = [...(await fixture.hashesOf(full.site.id))];
  await fixture.ageStore();
  await fixture.startDeletion(full);
  for (const step of steps) fixture.around.set(step, activityFaults[fault]);
  await fixture.purge(full.site.id);
  await fixture.expectGone(full);
  expect((await fixture.deps.store.sizes(hashes)).size).toBe(0);
  expect(fixture.around.size).toBe(0);
  await full.close();
});

test('a domain is detached only together with the end of its certificate', async () => {
  const full = await fixture.fullSite(1);
  const em = fixture.deps.em();
  await em.execute(`create function fail_for_test() returns trigger language plpgsql as $$
    begin raise exception 'as if the process were killed'; end $$`);
  await em.execute(
    'create trigger fail_for_test before update on certificate for each row execute function fail_for_test()',
  );
  await expect(detachSiteDomains(fixture.deps.em(), fixture.clock, full.site.id)).rejects.toThrow('as if the process');
  await em.execute('drop function fail_for_test() cascade');
  const { id } = full.domain;
  expect(await em.execute('select site_id from domain where id = ?', [id])).toEqual([{ site_id: full.site.id }]);
  await detachSiteDomains(fixture.deps.em(), fixture.clock, full.site.id);
  expect(await em.execute('select sealed_key from certificate where domain_id = ?', [id])).toEqual([
    { sealed_key: null },
  ]);
  await full.close();
});

test('the name of a purged site is free after 90 days', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await fixture.startDeletion({ owner, site });
  await fixture.purge(site.id);
  const take = () => owner.call('POST', '/v1/sites', { body: { name: site.name, title: 'Again' } });
  fixture.skip(89 * dayMs);
  await freeNames(fixture.deps.em(), fixture.clock.now());
  expect(errorOf(await take()).code).toBe('invalid_name');
  fixture.skip(2 * dayMs);
  await freeNames(fixture.deps.em(), fixture.clock.now());
  expect((await take()).status).toBe(200);
});

test('a restored site keeps everything, and its workflow ends', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await fixture.publish(site.id, owner.accountId, { 'index.html': '<p>Here' });
  await fixture.startDeletion({ owner, site });
  expect((await owner.call('POST', `/v1/sites/${site.id}/restore-site`)).body.status).toBe('archived');
  expect(await fixture.workflowOf(site.id).result()).toEqual({ status: 'restored' });
  fixture.skip(40 * dayMs);
  expect((await owner.call('POST', `/v1/sites/${site.id}/unarchive`)).body.status).toBe('active');
  await expect.poll(async () => (await fixture.visit(site.name, '/')).text).toContain('Here');
});

test('a site that is deleted again while its restored workflow ends is purged', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  await fixture.startDeletion({ owner, site });
  const [isRead, isDeleted] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  fixture.around.set('settleSiteDeletion', async function hold(settle): Promise<unknown> {
    const row = (await settle()) as Settled;
    if (row.status === 'restored') {
      isRead.resolve();
      await isDeleted.promise;
    } else fixture.around.set('settleSiteDeletion', hold);
    return row;
  });
  await owner.call('POST', `/v1/sites/${site.id}/restore-site`);
  await isRead.promise;
  expect((await owner.call('DELETE', `/v1/sites/${site.id}?confirm=true`)).body.status).toBe('deleting');
  const unsent = 'select 1 from outbox where workflow_id = ? and sent_at is null';
  await expect.poll(() => fixture.deps.em().execute(unsent, [workflowIds.deleteSite(site.id)])).toEqual([]);
  isDeleted.resolve();
  await fixture.purge(site.id);
});
