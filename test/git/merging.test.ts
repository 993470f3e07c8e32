/** Merges and moves of branches in bare repositories. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { runGit } from '#providers/repositories/git.ts';
import { openRepositories, type Repositories } from '#providers/repositories.ts';
import { newId } from '#runtime/ids.ts';

let dir: string;
let repositories: Repositories;
let siteId: string;
let base: string;
const author = { name: 'Ada', email: 'ada@example.com' };
const at = new Date('2026-01-02T03:04:05Z');
const lines = Array.from({ length: 40 }, (_, n) => `line ${n}`);
const text = (changed: Record<number, string>) => lines.map((line, n) => changed[n] ?? line).join('\n');

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-merging-'));
  repositories = openRepositories(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

async function newSite(files: Record<string, string>): Promise<void> {
  siteId = newId('site');
  const tree = new Map(Object.entries(files).map(([path, bytes]) => [path, Buffer.from(bytes)]));
  await repositories.create(siteId, { source: tree, content: tree }, author, at);
  base = (await head('main')) as string;
}

const head = (branch: string, repository: 'source' | 'content' = 'source') =>
  repositories.head(siteId, repository, branch);

/** A commit on the branch, which begins at the first commit. */
async function write(branch: string, files: Record<string, string | null>): Promise<string> {
  if (!(await head(branch))) await repositories.move(siteId, [{ repository: 'source', branch, from: null, to: base }]);
  const changes = Object.entries(files).map(([path, bytes]) => ({
    path,
    bytes: bytes === null ? null : Buffer.from(bytes),
  }));
  const parent = await head(branch);
  return (await repositories.commit(siteId, 'source', { branch, parent, message: 'm', author, at, changes })) as string;
}

const merge = (ours: string, theirs: string) =>
  repositories.merge(siteId, 'source', { ours, theirs, message: 'Bring\n', author, at });

async function filesOf(commit: string): Promise<Record<string, string>> {
  const entries = await repositories.listTree(siteId, 'source', commit);
  const files: Record<string, string> = {};
  for (const { path, oid } of entries) {
    const { stdout } = await runGit(repositories.place(siteId, 'source'), ['cat-file', 'blob', oid]);
    files[path] = stdout.toString();
  }
  return files;
}

test('a merge has both sides’ changes, also in one file, with both parents', async () => {
  await newSite({ 'a.txt': text({}), 'gone.txt': 'x' });
  const ours = await write('preview/1', { 'a.txt': text({ 3: 'ours' }), 'ours.txt': '1' });
  const theirs = await write('main', { 'a.txt': text({ 30: 'theirs' }), 'gone.txt': null, 'theirs.txt': '2' });
  const merged = await merge(ours, theirs);
  if (!('commit' in merged)) throw new Error('it is in conflict');
  const { commit } = merged;
  expect(await filesOf(commit)).toEqual({
    'a.txt': text({ 3: 'ours', 30: 'theirs' }),
    'ours.txt': '1',
    'theirs.txt': '2',
  });
  const { stdout } = await runGit(repositories.place(siteId, 'source'), [
    'show',
    '-s',
    '--format=%P|%an|%ae|%at|%s',
    commit,
  ]);
  expect(stdout.toString().trim()).toBe(`${ours} ${theirs}|Ada|ada@example.com|${at.getTime() / 1000}|Bring`);
  expect([await head('main'), await head('preview/1')]).toEqual([theirs, ours]);
});

test.each<[string, Record<string, string | null>, Record<string, string | null>, string[]]>([
  ['a line that both changed', { 'a.txt': text({ 3: 'o' }) }, { 'a.txt': text({ 3: 't' }) }, ['a.txt']],
  ['a file that one removed and the other changed', { 'a.txt': null }, { 'a.txt': text({ 3: 't' }) }, ['a.txt']],
  ['a name that both added', { 'n ü"\t.txt': 'o' }, { 'n ü"\t.txt': 't' }, ['n ü"\t.txt']],
])('%s is a conflict that names the file', async (_, ours, theirs, paths) => {
  await newSite({ 'a.txt': text({}) });
  expect(await merge(await write('preview/1', ours), await write('main', theirs))).toEqual({ conflicts: paths });
});

test('branches move together or not at all, from their expected commits', async () => {
  await newSite({ 'a.txt': 'a' });
  const tip = await write('preview/1', { 'a.txt': 'b' });
  const content = await head('main', 'content');
  const good = { repository: 'content', branch: 'preview/1', from: null, to: content } as const;
  const stale = { repository: 'source', branch: 'main', from: tip, to: tip } as const;
  for (const moves of [
    [good, stale],
    [stale, good],
  ]) {
    expect(await repositories.move(siteId, moves)).toBe(false);
    expect([await head('preview/1', 'content'), await head('main')]).toEqual([null, base]);
  }
  expect(await repositories.move(siteId, [good, { ...stale, from: base }])).toBe(true);
  expect([await head('preview/1', 'content'), await head('main')]).toEqual([content, tip]);
});

test('a branch is removed from its expected commit, packed or not', async () => {
  await newSite({ 'a.txt': 'a' });
  const tip = await write('preview/2', { 'a.txt': 'b' });
  const gone = { repository: 'source', branch: 'preview/2', from: tip, to: null } as const;
  expect(await repositories.move(siteId, [{ ...gone, from: base }])).toBe(false);
  await runGit(repositories.place(siteId, 'source'), ['pack-refs', '--all']);
  expect(await head('preview/2')).toBe(tip);
  expect(await repositories.move(siteId, [gone])).toBe(true);
  expect(await head('preview/2')).toBe(null);
  expect(await repositories.move(siteId, [gone])).toBe(false);
});
