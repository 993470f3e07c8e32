import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, readdir, rm, stat, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bytesOf } from '#providers/repositories/objects.ts';
import { openRepositories, type Repositories } from '#providers/repositories.ts';
import { newId } from '#runtime/ids.ts';
import { git } from './git.ts';

const run = promisify(execFile);
const author = { name: 'Ada <x>\n', email: 'ada@example.com' };
const at = new Date('2026-11-21T12:00:00Z');
const files = (entries: Record<string, string | Buffer>) =>
  new Map(Object.entries(entries).map(([path, bytes]) => [path, Buffer.from(bytes as string)]));

let dir: string;
let repositories: Repositories;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-repositories-'));
  repositories = openRepositories(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function make(source: Record<string, string | Buffer> = {}): Promise<string> {
  const siteId = newId('site');
  await repositories.create(siteId, { source: files(source), content: files({}) }, author, at);
  return siteId;
}

test('both repositories are created completely, once, under concurrent calls', async () => {
  const siteId = newId('site');
  const initial = { source: files({ 'a.txt': 'a' }), content: files({ 'b.md': 'b' }) };
  await Promise.all([1, 2, 3].map(() => repositories.create(siteId, initial, author, at)));
  const heads = [await repositories.head(siteId, 'source'), await repositories.head(siteId, 'content')];
  await repositories.create(siteId, { source: files({}), content: files({}) }, author, at);
  expect([await repositories.head(siteId, 'source'), await repositories.head(siteId, 'content')]).toEqual(heads);
  expect(await repositories.listTree(siteId, 'content', heads[1] ?? '')).toMatchObject([{ path: 'b.md', bytes: 1 }]);
  expect(await readdir(join(dir, '.making'))).toEqual([]);
  const { dir: place } = repositories.place(siteId, 'source');
  await git(place, ['fsck', '--strict']);
});

test('an invalid site id becomes no path', () => {
  for (const id of ['../../etc', '', 'site_', 'site_01m7y4w1hnfezrps8pa690527W', 'dep_01m7y4w1hnfezrps8pa690527w']) {
    expect(() => repositories.place(id, 'source')).toThrow('not a site id');
  }
});

test('a head is found in its file and in packed refs', async () => {
  const siteId = await make({ 'a.txt': 'a' });
  const head = await repositories.head(siteId, 'source');
  await git(repositories.place(siteId, 'source').dir, ['pack-refs', '--all']);
  expect(await repositories.head(siteId, 'source')).toBe(head);
  expect(await repositories.head(siteId, 'source', 'preview/1')).toBeNull();
  expect(await repositories.head(newId('site'), 'source')).toBeNull();
});

test('contents are returned completely in the requested order', async () => {
  const large = Buffer.alloc(3_000_000, 'frontage');
  const siteId = await make({ empty: '', large, 'line\u00e9': 'a\nb\0c\n' });
  const tree = await repositories.listTree(siteId, 'source', (await repositories.head(siteId, 'source')) ?? '');
  const oids = [...tree, ...tree].map(({ oid }) => oid);
  const read: (string | number)[] = [];
  for await (const { bytes, content } of repositories.readBlobs(siteId, 'source', oids)) {
    if (bytes < 100) read.push((await bytesOf(content)).toString());
    else if (read.length > 1) read.push(Buffer.compare(await bytesOf(content), large));
    else for await (const chunk of content) if (read.push(chunk[0] ?? 0)) break;
  }
  expect(read).toEqual(['', large[0], 'a\nb\0c\n', '', 0, 'a\nb\0c\n']);
  const stray = repositories.readBlobs(siteId, 'source', ['f'.repeat(40)]);
  await expect(stray[Symbol.asyncIterator]().next()).rejects.toThrow(/not a file in this repository/);
});

test('long subjects and names of authors are shortened in lists of commits', async () => {
  const siteId = await make({ 'a.txt': 'a' });
  const parent = await repositories.head(siteId, 'source');
  const long = { name: 'n'.repeat(100_000), email: 'n@example.com' };
  const commit = { parent, message: 'm'.repeat(1_000_000), author: long, at, changes: [] };
  const to = (await repositories.commit(siteId, 'source', commit)) ?? '';
  const [line] = await repositories.commits(siteId, 'source', { from: parent, to, limit: 1 });
  expect(line?.subject).toBe(`${'m'.repeat(498)}..`);
  expect(line?.author).toBe(`${'n'.repeat(198)}..`);
});

test('a commit moves a branch only from its parent', async () => {
  const siteId = await make({ 'a.txt': 'a', 'b "q".txt': 'b' });
  const parent = await repositories.head(siteId, 'source');
  const commit = { parent, message: 'Two\n\nmore', author, at, changes: [{ path: 'b "q".txt', bytes: null }] };
  const one = await repositories.commit(siteId, 'source', commit);
  expect(await repositories.head(siteId, 'source')).toBe(one);
  const late = { ...commit, message: 'Late' };
  expect(await repositories.commit(siteId, 'source', late)).toBeNull();
  expect(await repositories.head(siteId, 'source')).toBe(one);
  const range = { from: parent, to: one ?? '', limit: 10 };
  expect(await repositories.commits(siteId, 'source', range)).toEqual([
    { sha: one, subject: 'Two', author: 'Ada x', at },
  ]);
  const missing = 'f'.repeat(40);
  expect(await repositories.commits(siteId, 'source', { ...range, from: missing })).toHaveLength(2);
  expect(await repositories.commits(siteId, 'source', { ...range, to: missing })).toEqual([]);
  expect(await repositories.commits(newId('site'), 'source', range)).toEqual([]);
  expect(await repositories.hasCommit(siteId, 'source', one ?? '')).toBe(true);
  expect(await repositories.hasCommit(siteId, 'source', missing)).toBe(false);
  await expect(repositories.hasCommit(siteId, 'source', '--help')).rejects.toThrow('not a git object id');
});

test('a killed process’s lock delays commits for at most a minute', async () => {
  const siteId = await make({ 'a.txt': 'a' });
  const lock = join(repositories.place(siteId, 'source').dir, 'refs/heads/main.lock');
  await writeFile(lock, '');
  const { mtimeMs } = await stat(lock);
  await utimes(lock, new Date(mtimeMs), new Date(mtimeMs - 61_000));
  const parent = await repositories.head(siteId, 'source');
  const commit = { parent, message: 'x', author, at, changes: [{ path: 'b', bytes: Buffer.from('b') }] };
  expect(await repositories.commit(siteId, 'source', commit)).toBeNull();
  expect(await repositories.commit(siteId, 'source', commit)).toBe(await repositories.head(siteId, 'source'));
});

test('of many commits on one tip one succeeds', async () => {
  const siteId = await make({ 'a.txt': 'a' });
  const parent = await repositories.head(siteId, 'source');
  const all = await Promise.all(
    Array.from({ length: 12 }, (_, n) =>
      repositories.commit(siteId, 'source', {
        parent,
        message: `${n}`,
        author,
        at,
        changes: [{ path: `${n}`, bytes: Buffer.from('x') }],
      }),
    ),
  );
  const won = all.filter((sha) => sha !== null);
  expect(won).toEqual([await repositories.head(siteId, 'source')]);
});

test('no package and no program on PATH takes the place of a recent git', async () => {
  const bin = join(dir, 'node_modules/.bin');
  await mkdir(bin, { recursive: true });
  await writeFile(join(bin, 'git'), '#!/bin/sh\necho git version 99.0\n', { mode: 0o755 });
  const module = JSON.stringify(join(import.meta.dirname, '../../providers/repositories/git.ts'));
  const code = `console.log((await import(${module})).gitEnvironment().PATH)`;
  const env = { ...process.env, PATH: `${bin}:${process.env.PATH}` };
  const { stdout } = await run(process.execPath, ['--input-type=module', '-e', code], { env });
  expect(stdout).toBe('/usr/local/bin:/usr/bin:/bin\n');
});
