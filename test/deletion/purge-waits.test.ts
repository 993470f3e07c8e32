/** What a purge waits for: a backup, a manifest that cannot be read, and the removal of another purge. */
import { rename } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { removePurgeBlobs } from '#db/sites/purge-files.ts';
import { createBackup } from '#operator/backups/create.ts';
import { openBackupRepository } from '#operator/backups/repository.ts';
import { blobName } from '#providers/store/blob-names.ts';
import { createSite } from '#test/api/fixture.ts';
import { openFolder } from '#test/backups/fixture.ts';
import { gate, moments } from '#test/backups/held-up.ts';
import { createDeletionFixture, type DeletionFixture, dayMs } from './fixture.ts';

vi.setConfig({ testTimeout: 90_000 });

let fixture: DeletionFixture;
let backups: Awaited<ReturnType<typeof openFolder>>;
beforeAll(async () => {
  [fixture, backups] = await Promise.all([createDeletionFixture(), openFolder()]);
}, 120_000);
afterAll(async () => {
  await backups?.remove();
  await fixture?.close();
});

async function emptyFolder() {
  const folder = await openFolder();
  return { where: folder.where, [Symbol.asyncDispose]: folder.remove };
}

/** Why the purge of the site waits. */
async function failureOf(siteId: string): Promise<string | null | undefined> {
  const { raw } = await fixture.workflowOf(siteId).describe();
  return raw.pendingActivities?.[0]?.lastFailure?.message;
}

async function beginPurge(siteId: string): Promise<void> {
  fixture.skip(31 * dayMs);
  await fixture.workflowOf(siteId).signal('moved');
}

test('a backup that has begun contains a site whose purge begins meanwhile', async () => {
  const full = await fixture.fullSite(5);
  await fixture.ageStore();
  await fixture.startDeletion(full);
  const place = await openBackupRepository(fixture.config, backups.where);
  // The first part is written while the rows are read.
  const { pass, reached, open } = gate();
  const store: typeof place.store = {
    ...place.store,
    async put(...part) {
      await pass();
      return await place.store.put(...part);
    },
  };
  const backup = createBackup(fixture, { ...place, store });
  await reached;
  await beginPurge(full.site.id);
  await expect.poll(() => failureOf(full.site.id), { timeout: 30_000 }).toContain('A backup is being created.');
  open();
  const { missing, corrupt } = await backup;
  expect([missing, corrupt, (await backups.check(fixture)).faults]).toEqual([[], [], []]);
  expect(await fixture.workflowOf(full.site.id).result()).toEqual({ status: 'purged' });
  await fixture.expectGone(full);
  await full.close();
});

test('a backup whose connection to the database was lost fails', async () => {
  const owner = await fixture.newCaller();
  await fixture.publish((await createSite(owner)).id, owner.accountId, { 'index.html': '<p>Stored' });
  // The rows of a first backup have been read when it asks for sizes.
  await using folder = await emptyFolder();
  const place = await openBackupRepository(fixture.config, folder.where);
  const { pass, reached, open } = gate();
  const held = moments['before it has copied all'];
  if (!held) throw new Error('there is no such moment');
  const outcome = createBackup(fixture, held(place, pass)).then(
    () => 'a backup',
    (error: Error) => error.message,
  );
  await Promise.race([reached, outcome]);
  const ended = await fixture.deps
    .em()
    .execute<unknown[]>(
      `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'frontage backup'`,
    );
  expect(ended).toHaveLength(1);
  open();
  expect(await outcome).toContain('The connection to the database was lost during the backup.');
});

test('a purge waits while the store lacks the manifest of another site', async () => {
  const owner = await fixture.newCaller();
  const [site, other] = [await createSite(owner), await createSite(owner)];
  const files = { 'index.html': `<p>Shared by ${site.name}` };
  await fixture.publish(site.id, owner.accountId, files);
  const deployment = await fixture.publish(other.id, owner.accountId, files);
  const hashes = [...(await fixture.hashesOf(other.id))];
  const em = fixture.deps.em();
  // As of an earlier release, which listed no files.
  await em.execute('delete from held_file where site_id = ?', [other.id]);
  await em.execute('update deployment set files_listed = false where id = ?', [deployment]);
  const [row] = await em.execute<[{ sha256: string }]>(
    'select manifest_sha256 as sha256 from deployment where id = ?',
    [deployment],
  );
  const path = join(fixture.config.storeDir as string, blobName(row.sha256));
  await fixture.ageStore();
  await rename(path, `${path}.gone`);
  await fixture.startDeletion({ owner, site });
  await beginPurge(site.id);
  const said = `The store lacks a manifest of ${deployment}`;
  await expect.poll(() => failureOf(site.id), { timeout: 30_000 }).toContain(said);
  await rename(`${path}.gone`, path);
  expect(await fixture.workflowOf(site.id).result()).toEqual({ status: 'purged' });
  expect((await fixture.deps.store.sizes(hashes)).size).toBe(hashes.length);
  expect((await fixture.visit(other.name, '/')).text).toContain('Shared by');
});

test('two purges remove files in turn, and the one that waits holds no connection', async () => {
  const owner = await fixture.newCaller();
  const sites = [await createSite(owner), await createSite(owner)];
  const [em, sha256] = [fixture.deps.em(), 'ab'.repeat(32)];
  for (const { id } of sites)
    await em.execute(`insert into purge_blob (site_id, sha256) values (?, decode(?, 'hex'))`, [id, sha256]);
  const { pass, reached, open } = gate();
  const removed: string[] = [];
  const later = fixture.deps.em();
  const tries = vi.spyOn(later, 'transactional');
  const remove = (at: number, hold: () => Promise<void>, of = fixture.deps.em()) =>
    removePurgeBlobs(
      of,
      {
        async remove(hashes) {
          removed.push(`${at} begins`);
          await hold();
          removed.push(`${at} ends ${hashes}`);
          return new Set();
        },
      },
      sites[at]?.id ?? '',
      () => {},
    );
  const first = remove(0, pass);
  await reached;
  const second = remove(1, async () => {}, later);
  await expect.poll(() => tries.mock.calls.length).toBeGreaterThan(3);
  const waiting = `select 1 from pg_stat_activity where datname = current_database() and wait_event = 'advisory'`;
  expect(await em.execute<unknown[]>(waiting)).toEqual([]);
  expect(removed).toEqual(['0 begins']);
  open();
  expect(await Promise.all([first, second])).toEqual([0, 0]);
  expect(removed).toEqual(['0 begins', `0 ends ${sha256}`, '1 begins', `1 ends ${sha256}`]);
});
