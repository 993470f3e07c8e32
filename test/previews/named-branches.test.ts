/** Names of a push besides the platform's own: branches that `frontage.toml` shows in slots, and tags. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { packAll, readRefs } from '#providers/repositories/packs.ts';
import { commitFiles, commitTree, folder, git, tryGit, writeTree } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';

let platform: Platform;
let siteId: string;
let clone: string;

beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());
beforeEach(async () => {
  siteId = await platform.site({ 'a.txt': 'one\n' });
  const work = await folder();
  clone = work.path;
  await git(clone, ['clone', '--quiet', await platform.address(siteId), '.']);
  return () => work[Symbol.asyncDispose]();
});

const push = (...refs: string[]) => tryGit(clone, ['push', 'origin', ...refs]);
const tip = (branch: string) => platform.repositories.head(siteId, 'source', branch);
const localTip = () => git(clone, ['rev-parse', 'HEAD']);

test('a named branch moves the branch of its slot', async () => {
  await commitFiles(clone, { 'frontage.toml': '[branches]\n"design/new" = 2\n' });
  await push('HEAD:main');
  await commitFiles(clone, { 'b.txt': 'new' });
  expect((await push('HEAD:design/new')).status).toBe(0);
  expect(await tip('preview/2')).toBe(await localTip());
  const address = await platform.address(siteId, { repository: 'content' });
  const post = await commitTree(clone, await writeTree(clone, [{ path: 'posts/a.md', bytes: '# A' }]), []);
  expect((await tryGit(clone, ['push', address, `${post}:refs/heads/design/new`])).status).toBe(0);
  expect(await platform.repositories.head(siteId, 'content', 'preview/2')).toBe(post);
  // The history has it, and a backup or an export has it once.
  const { body } = await platform.call<{ items: { detail: unknown }[] }>('GET', `/v1/sites/${siteId}/history`);
  expect(body.items.map(({ detail }) => detail)).toContainEqual({
    branch: 'preview/2',
    from: null,
    to: await localTip(),
  });
  const place = platform.repositories.place(siteId, 'source');
  expect(Object.keys(await readRefs(place)).sort()).toEqual(['refs/heads/main', 'refs/heads/preview/2']);
  await packAll(place, async (pack) => pack.resume());

  await git(clone, ['reset', '--quiet', '--hard', 'HEAD~1']);
  await commitFiles(clone, { 'c.txt': 'other' });
  expect((await push('--force', 'HEAD:design/new')).status).toBe(0);
  expect(await tip('preview/2')).toBe(await localTip());
});

test('a branch that no slot has is refused with a free slot', async () => {
  await push('HEAD:preview/1');
  await commitFiles(clone, { 'frontage.toml': '[branches]\n"design" = 2\n' });
  await push('HEAD:main');
  const refused = await push('HEAD:feature');
  expect([refused.status, refused.stderr]).toEqual([
    1,
    expect.stringContaining(
      'the free slot 3: git push origin HEAD:preview/3, or in frontage.toml on main, [branches] "feature" = 3',
    ),
  ]);
  await push('HEAD:preview/3', 'HEAD:preview/4', 'HEAD:preview/5');
  expect((await push('HEAD:feature')).stderr).not.toContain('free slot');
});

test('no push empties a slot', async () => {
  await commitFiles(clone, { 'frontage.toml': '[branches]\n"design" = 2\n' });
  await push('HEAD:main');
  await push('HEAD:design');
  const shown = await tip('preview/2');
  const deleted = await push('--delete', 'design');
  expect([deleted.status, deleted.stderr]).toEqual([1, expect.stringContaining('cannot be deleted by a push')]);
  for (const branches of ['"design" = 3', '"design/a" = 4', '']) {
    await commitFiles(clone, { 'frontage.toml': `[branches]\n${branches}\n` });
    expect((await push('HEAD:main')).status).toBe(0);
    await push('HEAD:design/a');
    expect(await tip('preview/2')).toBe(shown);
  }
  expect((await push('HEAD:design')).stderr).toContain('cannot be pushed');
  const heads = join(platform.repositories.place(siteId, 'source').dir, 'refs', 'heads');
  expect((await readdir(heads, { recursive: true })).filter((name) => name.startsWith('design/'))).toEqual([]);
});

test('one slot is not pushed under two names', async () => {
  await commitFiles(clone, { 'frontage.toml': '[branches]\n"design" = 2\n' });
  await push('HEAD:main');
  expect((await push('HEAD:design', 'HEAD:preview/2')).stderr).toContain('"preview/2" is pushed under two names');
  expect(await tip('preview/2')).toBeNull();
});

test('the tags of a push are ignored with a line', async () => {
  await git(clone, ['tag', 'v1']);
  await git(clone, ['tag', '-a', '-m', 'Two', 'v/2']);
  await commitFiles(clone, { 'b.txt': 'b' });
  await git(clone, ['tag', '-a', '-m', 'Three', 'v3']);
  const pushed = await push('--follow-tags', '--tags', 'HEAD:main');
  expect([pushed.status, pushed.stderr]).toEqual([
    0,
    expect.stringContaining('Ignored: sites have no tags (3 in this push).'),
  ]);
  expect(await tip('main')).toBe(await localTip());
  expect((await push('--tags')).status).toBe(0);
  expect((await push('--delete', 'refs/tags/v1')).stderr).toContain('v1');
  const listed = await git(clone, ['ls-remote', await platform.address(siteId)]);
  expect(listed).not.toContain('refs/tags');
  for (let n = 0; n <= 100; n += 1) await git(clone, ['tag', `t${n}`]);
  expect((await push('--tags')).stderr).toContain('This push has 104 tags; sites have none.');
  await push(...Array.from({ length: 97 }, (_, n) => `t${n}`), 'v1', 'v3');
  // The files of a tag are no way around the rules of a push.
  await commitFiles(clone, { '.npmrc': 'x' });
  await git(clone, ['tag', 'v4']);
  expect((await push('HEAD:main', 'v4')).stderr).toContain('.npmrc is managed by the platform');
});

test('a public variable that looks like a key is warned of', async () => {
  const key = `sk_live_${'a1B2'.repeat(6)}`;
  await commitFiles(clone, { 'frontage.toml': `[env]\nPUBLIC_STRIPE = "${key}"\nPUBLIC_SHOP = "pk_live_123"\n` });
  const pushed = await push('HEAD:main');
  expect([pushed.status, pushed.stderr]).toEqual([
    0,
    expect.stringContaining('values that look like secret keys: PUBLIC_STRIPE.'),
  ]);
  expect(pushed.stderr).not.toContain(key);
  await commitFiles(clone, { 'b.txt': 'b' });
  expect((await push('HEAD:main')).stderr).not.toContain('look like secret keys');
});
