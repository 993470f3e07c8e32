/** Packing anew and cleaning up lose nothing: not what no branch reaches, not what comes meanwhile, not when they are killed. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { maintainAll } from '#activities/maintenance.ts';
import { gitEnvironment } from '#providers/repositories/git.ts';
import { newId } from '#runtime/ids.ts';
import { commitFiles, folder, git } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const author = { name: 'Ada', email: 'ada@example.com' };
const dirOf = (siteId: string) => platform.repositories.place(siteId, 'source').dir;
const maintain = () => maintainAll(platform.deps, () => {});

/** A repository with thousands of loose objects, among them the commits of a slot that was rewritten. Answers one of those. */
async function grown(): Promise<{ siteId: string; forgotten: string }> {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: 86_400 }), '.']);
  await commitFiles(work.path, { 'b.txt': 'forgotten' });
  const forgotten = await git(work.path, ['rev-parse', 'HEAD']);
  await git(work.path, ['push', '--quiet', 'origin', 'HEAD:preview/1']);
  await git(work.path, ['reset', '--quiet', '--hard', 'HEAD~1']);
  await commitFiles(work.path, { 'b.txt': 'kept' });
  await git(work.path, ['push', '--quiet', '--force', 'origin', 'HEAD:preview/1', 'HEAD:main']);
  const blobs = Array.from(
    { length: 4000 },
    (_, index) => `blob\nmark :${index + 1}\ndata ${String(index).length}\n${index}\n`,
  );
  const loose = { ...gitEnvironment(), GIT_DIR: dirOf(siteId) };
  await git(work.path, ['-c', 'fastimport.unpackLimit=100000', 'fast-import', '--quiet'], blobs.join(''), loose);
  return { siteId, forgotten };
}

const looseIn = async (siteId: string) =>
  (await readdir(join(dirOf(siteId), 'objects'))).filter((name) => /^[0-9a-f]{2}$/.test(name)).length;

test('a grown repository is repacked with all its objects', async () => {
  const { siteId, forgotten } = await grown();
  const all = ['cat-file', '--batch-all-objects', '--batch-check'];
  const before = await git(dirOf(siteId), all);
  expect(await looseIn(siteId)).toBeGreaterThan(200);
  expect(await maintain()).toMatchObject({ failed: 0, repacked: expect.toSatisfy((count: number) => count >= 1) });
  expect(await looseIn(siteId)).toBe(0);
  expect(await git(dirOf(siteId), all)).toBe(before);
  expect(before).toContain(forgotten);
  await git(dirOf(siteId), ['fsck', '--strict']);
  expect(await platform.repositories.maintain(siteId, 'source')).toBe(false);
  expect(await platform.repositories.head(siteId, 'source')).toMatch(/^[0-9a-f]{40}$/);
}, 120_000);

test('pushes during a repack are kept', async () => {
  const { siteId } = await grown();
  await using work = await folder();
  await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: 86_400 }), '.']);
  const packing = platform.repositories.maintain(siteId, 'source');
  for (const name of ['1', '2', '3']) {
    await commitFiles(work.path, { [`${name}.txt`]: name });
    await git(work.path, ['push', '--quiet']);
  }
  expect(await packing).toBe(true);
  expect(await platform.repositories.head(siteId, 'source')).toBe(await git(work.path, ['rev-parse', 'HEAD']));
  await git(dirOf(siteId), ['fsck', '--strict']);
  await using anew = await folder();
  await git(anew.path, ['clone', '--quiet', await platform.address(siteId), '.']);
}, 120_000);

test('a killed repack leaves a sound repository, and the next run completes it', async () => {
  const { siteId, forgotten } = await grown();
  for (const afterMs of [0, 5, 20, 60]) {
    const env = { ...gitEnvironment(), GIT_DIR: dirOf(siteId) };
    const child = spawn('git', ['repack', '-a', '-d', '--keep-unreachable', '--quiet'], { env, detached: true });
    const over = once(child, 'exit');
    setTimeout(() => {
      try {
        process.kill(-(child.pid as number), 'SIGKILL');
      } catch {
        // It was done before.
      }
    }, afterMs);
    await over;
    await git(dirOf(siteId), ['fsck', '--strict']);
    expect(await git(dirOf(siteId), ['cat-file', '-t', forgotten])).toBe('commit');
  }
  const left = join(dirOf(siteId), 'objects/pack/.tmp-1-pack-left');
  await writeFile(left, '');
  const { mtimeMs } = await stat(left);
  await utimes(left, new Date(mtimeMs), new Date(mtimeMs - 3_700_000));
  await platform.repositories.maintain(siteId, 'source');
  await git(dirOf(siteId), ['fsck', '--strict']);
}, 120_000);

test('only untouched repositories of sites never created are removed, after a day', async () => {
  const [young, old, used] = [newId('site'), newId('site'), newId('site')];
  const files = new Map([['a.txt', Buffer.from('a')]]);
  for (const id of [young, old, used]) {
    await platform.repositories.create(id, { source: files, content: new Map() }, author, new Date());
  }
  const parent = await platform.repositories.head(used, 'content');
  const change = { parent, message: 'x', author, at: new Date(), changes: [{ path: 'b.md', bytes: Buffer.from('b') }] };
  await platform.repositories.commit(used, 'content', change);
  for (const id of [old, used]) {
    for (const repository of ['source', 'content'] as const) {
      const config = join(platform.repositories.place(id, repository).dir, 'config');
      const { mtimeMs } = await stat(config);
      await utimes(config, new Date(mtimeMs), new Date(mtimeMs - 90_000_000));
    }
  }
  expect(await maintain()).toMatchObject({ removed: 1, failed: 0 });
  const there = await Promise.all([young, old, used].map((id) => platform.repositories.exists(id, 'source')));
  expect(there).toEqual([true, false, true]);
});
