import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { commitFiles, commitTree, folder, git, tryGit, writeObject, writeRawTree, writeTree } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { gitProcesses, stateOf } from './state.ts';

let platform: Platform;
let siteId: string;
let work: Awaited<ReturnType<typeof folder>>;
let clone: string;
let head: string;

beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

beforeEach(async () => {
  siteId = await platform.site({ 'a.txt': 'one\n', 'b.txt': 'two\n' });
  work = await folder();
  clone = work.path;
  await git(clone, ['clone', '--quiet', await platform.address(siteId), '.']);
  head = await git(clone, ['rev-parse', 'HEAD']);
  return () => work[Symbol.asyncDispose]();
});

async function expectRefused(args: string[], says: RegExp): Promise<void> {
  const before = await stateOf(platform, siteId);
  const { status, stderr } = await tryGit(clone, ['push', ...args]);
  expect(stderr).toMatch(says);
  expect(status).not.toBe(0);
  expect(await stateOf(platform, siteId)).toEqual(before);
  expect(before.quarantines).toEqual([]);
  expect(await gitProcesses(platform, siteId)).toEqual([]);
}

describe('branches', () => {
  const odd = [
    'refs/heads/feature',
    'refs/heads/Main',
    'refs/heads/main/x',
    'refs/heads/preview/0',
    'refs/heads/preview/01',
    'refs/heads/preview/6',
    'refs/heads/preview/1/x',
    'refs/heads/preview/one',
    'refs/heads/preview',
    'refs/notes/commits',
    'refs/remotes/origin/main',
    'refs/pull/1/head',
  ];
  test.each(odd)('%s cannot be pushed, and the terminal says which can', async (ref) => {
    await expectRefused(
      ['origin', `HEAD:${ref}`],
      /cannot be pushed: sites accept pushes only to main and preview\/1 to preview\/5/,
    );
  });

  test('main and each slot can be pushed', async () => {
    await commitFiles(clone, { 'c.txt': 'three' });
    await git(clone, ['push', '--quiet', 'origin', 'HEAD:main', 'HEAD:preview/1', 'HEAD:preview/5']);
    const pushed = await git(clone, ['rev-parse', 'HEAD']);
    for (const branch of ['main', 'preview/1', 'preview/5']) {
      expect(await platform.repositories.head(siteId, 'source', branch)).toBe(pushed);
    }
  });

  test("a slot's branch can be rewritten, main cannot", async () => {
    await commitFiles(clone, { 'c.txt': 'three' });
    await git(clone, ['push', '--quiet', 'origin', 'HEAD:main', 'HEAD:preview/1']);
    await git(clone, ['reset', '--quiet', '--hard', head]);
    await commitFiles(clone, { 'd.txt': 'four' });
    await git(clone, ['push', '--quiet', '--force', 'origin', 'HEAD:preview/1']);
    await expectRefused(['--force', 'origin', 'HEAD:main'], /remote: +"main" accepts only fast-forward pushes/);
  });

  test('main cannot take a history of another root', async () => {
    const other = await commitTree(clone, await writeTree(clone, [{ path: 'z.txt', bytes: 'z' }]), []);
    await expectRefused(['--force', 'origin', `${other}:refs/heads/main`], /"main" accepts only fast-forward pushes/);
  });

  test('no branch can be deleted', async () => {
    await git(clone, ['push', '--quiet', 'origin', 'HEAD:preview/2']);
    await expectRefused(['origin', ':main'], /"main" cannot be deleted by a push/);
    await expectRefused(['origin', '--delete', 'preview/2'], /"preview\/2" cannot be deleted by a push/);
  });

  test.each(['blob', 'tree', 'tag'] as const)('a branch cannot be a %s', async (type) => {
    const blob = await writeObject(clone, 'blob', 'x');
    const tag = `object ${head}\ntype commit\ntag t\ntagger Bo <bo@example.com> 1795219200 +0000\n\nt\n`;
    const oid =
      type === 'blob' ? blob : type === 'tree' ? await writeTree(clone, []) : await writeObject(clone, 'tag', tag);
    // git's client refuses this by itself; without its refs it cannot know better.
    await expectRefused(['--force', 'origin', `${oid}:refs/heads/preview/3`], /would not point to a commit/);
  });

  test('one refused branch refuses its whole push', async () => {
    await commitFiles(clone, { 'c.txt': 'three' });
    await expectRefused(['origin', 'HEAD:main', 'HEAD:refs/pull/1'], /"refs\/pull\/1" cannot be pushed/);
  });

  test('push options are refused', async () => {
    await commitFiles(clone, { 'c.txt': 'three' });
    await expectRefused(['-o', 'x=1', 'origin', 'HEAD:main'], /does not support push options/);
  });

  test('the later of two pushes on one tip must fetch first', async () => {
    await using second = await folder();
    await git(second.path, ['clone', '--quiet', await platform.address(siteId), '.']);
    await commitFiles(clone, { 'c.txt': 'mine' });
    await commitFiles(second.path, { 'd.txt': 'theirs' });
    const ended = await Promise.all([clone, second.path].map((path) => tryGit(path, ['push', 'origin', 'HEAD:main'])));
    expect(ended.map(({ status }) => status).sort()).toEqual([0, 1]);
    const loser = ended[0]?.status === 0 ? second.path : clone;
    await git(loser, ['pull', '--quiet', '--rebase', 'origin', 'main']);
    await git(loser, ['push', '--quiet', 'origin', 'HEAD:main']);
    const tip = (await platform.repositories.head(siteId, 'source')) ?? '';
    const paths = (await platform.repositories.listTree(siteId, 'source', tip)).map(({ path }) => path);
    expect(paths).toEqual(['a.txt', 'b.txt', 'c.txt', 'd.txt']);
  });
});

describe('histories', () => {
  test('a harmful name is refused anywhere in a history', async () => {
    const bad = await commitTree(clone, await writeTree(clone, [{ path: 'src/.GIT/config', bytes: 'x' }]), [head]);
    const good = await commitTree(clone, await writeTree(clone, [{ path: 'a.txt', bytes: 'one\n' }]), [bad]);
    await expectRefused(['origin', `${good}:refs/heads/main`], /src\/\.GIT\/config appears in the pushed history/);
  });

  test('a merge is checked like any other change', async () => {
    const side = await commitTree(clone, await writeTree(clone, [{ path: 'yarn.lock', bytes: 'x' }]), [head]);
    const tree = await writeTree(clone, [
      { path: 'a.txt', bytes: 'one\n' },
      { path: 'yarn.lock', bytes: 'x' },
    ]);
    const merge = await commitTree(clone, tree, [head, side]);
    await expectRefused(['origin', `${merge}:refs/heads/main`], /yarn\.lock is managed by the platform/);
  });

  test('only tips are compared, not commits in between', async () => {
    const odd = [
      { path: 'link', mode: '120000', bytes: 'a.txt' },
      { path: 'yarn.lock', bytes: 'x' },
    ];
    const bad = await commitTree(clone, await writeTree(clone, odd), [head]);
    const good = await commitTree(clone, await writeTree(clone, [{ path: 'c.txt', bytes: 'c' }]), [bad]);
    await git(clone, ['push', '--quiet', 'origin', `${good}:refs/heads/main`]);
    expect(await platform.repositories.head(siteId, 'source')).toBe(good);
  });

  test('a new slot’s branch is compared with main', async () => {
    const bad = await commitTree(clone, await writeTree(clone, [{ path: '.npmrc', bytes: 'x' }]), [head]);
    await expectRefused(['origin', `${bad}:refs/heads/preview/4`], /\.npmrc is managed by the platform/);
  });
});

describe('broken objects', () => {
  const blob = () => writeObject(clone, 'blob', 'x');
  const entry = async (name: string, mode = '100644') => ({ name: Buffer.from(name), mode, oid: await blob() });
  const trees: [string, () => Promise<string>, RegExp][] = [
    ['the same name twice', async () => writeRawTree(clone, [await entry('x'), await entry('x')]), /duplicateEntries/],
    ['names out of order', async () => writeRawTree(clone, [await entry('y'), await entry('x')]), /treeNotSorted/],
    ['a slash in a name', async () => writeRawTree(clone, [await entry('src/x')]), /fullPathname/],
    ['an empty name', async () => writeRawTree(clone, [await entry('')]), /emptyName|malformed|empty filename/],
    [
      'a mode with zeros before it',
      async () => writeRawTree(clone, [await entry('x', '0100644')]),
      /zeroPaddedFilemode/,
    ],
    ['a truncated tree', () => writeObject(clone, 'tree', '100644 x\0short'), /badTree|too-short|truncated/],
  ];
  test.each(trees)('a tree with %s is refused', async (_what, write, says) => {
    const commit = await commitTree(clone, await write(), [head]);
    // A client that looks at its own objects would not send these.
    await expectRefused(['origin', `${commit}:refs/heads/main`], says);
  });

  test('a commit without an author is refused', async () => {
    const tree = await git(clone, ['rev-parse', 'HEAD^{tree}']);
    const commit = await writeObject(clone, 'commit', `tree ${tree}\nparent ${head}\n\nx\n`);
    await expectRefused(['origin', `${commit}:refs/heads/main`], /missingAuthor|invalid format|fsck error/);
  });
});
