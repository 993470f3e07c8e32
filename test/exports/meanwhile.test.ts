/** Imports that something happens to: another import, a lost connection, a slow store. */
import { mkdir, readdir, readFile, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { ExportFault } from '#api/exports/document.ts';
import { blockAccount } from '#db/accounts/blocks.ts';
import { importSite } from '#operator/exports/reader.ts';
import type { Store } from '#providers/store/store.ts';
import { createSite } from '#test/api/fixture.ts';
import { createFixture, type Installation } from '#test/backups/fixture.ts';
import { git } from '#test/git/git.ts';
import { openBreaking } from './bending.ts';
import { openEmpty, openExport } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

let source: Awaited<ReturnType<typeof openExport>>;
const opened: { close(): Promise<void> }[] = [];
beforeAll(async () => {
  source = await openExport();
}, 180_000);
afterAll(async () => {
  await Promise.all(opened.map((one) => one.close()));
  await source?.close();
});
const keep = <One extends { close(): Promise<void> }>(one: One): One => {
  opened.push(one);
  return one;
};

async function expectWhole({ deps }: Installation) {
  for (const repository of ['source', 'content'] as const) {
    const dir = deps.repositories?.place(source.site.id, repository).dir as string;
    await git(dir, ['fsck', '--strict']);
    expect(await git(dir, ['rev-parse', 'main'])).toMatch(/^[0-9a-f]{40}$/);
  }
  const rows = await deps.em().execute('select 1 from site where id = ?', [source.site.id]);
  expect(rows).toHaveLength(1);
}
const madeIn = ({ config }: Installation) => readdir(join(config.repositoriesDir as string, '.making'));

test('of two concurrent imports of one archive one succeeds, unharmed by the other', async () => {
  const other = keep(await openEmpty());
  const wish = { archive: source.exported, accountId: other.accountId };
  // Both have put their files before either goes on.
  let arrived = 0;
  let goOn = () => {};
  const both = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const store: Store = {
    ...other.deps.store,
    async flush() {
      arrived += 1;
      if (arrived === 2) goOn();
      await both;
    },
  };
  const ends = await Promise.allSettled([importSite({ ...other, store }, wish), importSite({ ...other, store }, wish)]);
  expect(ends.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  expect(ends.find((end) => end.status === 'rejected')?.reason).toBeInstanceOf(ExportFault);
  await expectWhole(other);
  expect(await madeIn(other)).toEqual([]);
});

test('an import whose connection is lost at commit is complete or absent', async () => {
  const other = keep(await openEmpty());
  const wish = { archive: source.exported, accountId: other.accountId };
  const lost = keep(await openBreaking(other.config.databaseUrl, 'before'));
  await expect(importSite({ ...other, config: { ...other.config, databaseUrl: lost.url } }, wish)).rejects.toThrow();
  expect(lost.breaks()).toBe(1);
  expect([await other.deps.repositories?.siteIds(), await madeIn(other)]).toEqual([[], []]);
  const done = keep(await openBreaking(other.config.databaseUrl, 'after'));
  const taken = await importSite({ ...other, config: { ...other.config, databaseUrl: done.url } }, wish);
  expect([taken.site_id, done.breaks()]).toEqual([source.site.id, 1]);
  await expectWhole(other);
});

test('a folder in a repository’s place stays, and the blocked import leaves nothing', async () => {
  const other = keep(await openEmpty());
  const dir = other.deps.repositories?.place(source.site.id, 'content').dir as string;
  await mkdir(dir, { recursive: true });
  await writeFile(join(dir, 'HEAD'), 'somebody was here');
  const taking = importSite(other, { archive: source.exported, accountId: other.accountId });
  await expect(taking).rejects.toThrow(ExportFault);
  expect(await readFile(join(dir, 'HEAD'), 'utf8')).toBe('somebody was here');
  expect(await other.deps.repositories?.exists(source.site.id, 'source')).toBe(false);
  expect(await other.deps.em().execute('select 1 from site')).toEqual([]);
  expect(await madeIn(other)).toEqual([]);
});

test('during a long import its owner keeps working, and its files are not swept', async () => {
  const other = keep(await createFixture());
  const mover = await other.newCaller();
  const standing = await createSite(mover);
  let begun = () => {};
  const hangs = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let goOn = () => {};
  const gate = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  const store: Store = {
    ...other.deps.store,
    async put(...asked) {
      begun();
      await gate;
      return await other.deps.store.put(...asked);
    },
  };
  const importing = importSite({ ...other, store }, { archive: source.exported, accountId: mover.accountId });
  importing.catch(() => {});
  try {
    await hangs;
    const long = new Date(Date.now() - 2 * 3600_000);
    const dir = join(other.config.repositoriesDir as string, '.making');
    for (const name of await readdir(dir)) await utimes(join(dir, name), long, long);
    await createSite(mover);
    const published = await mover.call('POST', `/v1/sites/${standing.id}/publish`, {
      body: { scope: 'site' },
      headers: { prefer: 'respond-async' },
    });
    expect(published.status).toBe(200);
    await blockAccount(other.deps.em(), other, mover.accountId, 'phishing');
  } finally {
    goOn();
  }
  await importing;
  await expectWhole(other);
  const [row] = await other.deps.em().execute('select owner_blocked_at from site where id = ?', [source.site.id]);
  expect(row?.owner_blocked_at).not.toBeNull();
});
