/** Exports, imports and backups of a site without a template, before and after its first push. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { openAccount } from '#api/accounts/rules.ts';
import { exportSite } from '#operator/exports/archive-writer.ts';
import { importSite } from '#operator/exports/reader.ts';
import { createSite } from '#test/api/fixture.ts';
import { createFixture, type Fixture, keepOpened } from '#test/backups/fixture.ts';
import { openArchives } from '#test/exports/fixture.ts';
import { folder, git } from '#test/git/git.ts';
import { oldHistory } from './old-history.ts';

vi.setConfig({ testTimeout: 120_000 });

let fixture: Fixture;
let archives: Awaited<ReturnType<typeof openArchives>>;
let empty: { id: string };
let pushed: { id: string; tip: string };
const { elsewhere, newFolder, closeAll } = keepOpened();
beforeAll(async () => {
  [fixture, archives] = await Promise.all([createFixture(), openArchives()]);
  const owner = await fixture.newCaller();
  empty = await createSite(owner, { template: null });
  const { id } = await createSite(owner, { template: null });
  await using work = await folder();
  const tip = await oldHistory(work.path);
  const dir = fixture.deps.repositories?.place(id, 'source').dir ?? '';
  await git(dir, ['fetch', '--quiet', work.path, 'main:main']);
  pushed = { id, tip };
}, 120_000);
afterAll(async () => {
  await closeAll();
  await archives?.remove();
  await fixture?.close();
});

test('a site without a commit, or with an old history, is exported and imported', async () => {
  const other = await elsewhere();
  const { id: accountId } = await openAccount(other.deps.em(), other.clock, { email: 'new@example.com', name: 'New' });
  for (const { id } of [empty, pushed]) {
    const archive = archives.path();
    await exportSite(fixture, { siteId: id, into: archive, withVisitors: true });
    await importSite(other, { archive, accountId });
  }
  const { repositories } = other.deps;
  expect(await repositories?.head(empty.id, 'source')).toBeNull();
  expect(await repositories?.head(empty.id, 'content')).toBeNull();
  const head = (await repositories?.head(pushed.id, 'source')) ?? '';
  // The import adds the platform's packages.
  expect(await repositories?.contains(pushed.id, 'source', head, pushed.tip)).toBe(true);
});

test('a backup restores a site without a commit, and one with an old history', async () => {
  const backup = await newFolder();
  await backup.create(fixture);
  expect(await backup.check(fixture)).toMatchObject({ faults: [], damaged: [], repositories: 4 });
  const other = await elsewhere();
  await backup.restore(other);
  expect(await other.deps.repositories?.exists(empty.id, 'source')).toBe(true);
  expect(await other.deps.repositories?.head(empty.id, 'source')).toBeNull();
  expect(await other.deps.repositories?.head(pushed.id, 'source')).toBe(pushed.tip);
});
