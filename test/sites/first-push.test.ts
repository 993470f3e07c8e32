/** A site without a template: empty repositories, and a first push with any history. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitFiles, folder, git, tryGit, writeObject, writeTree } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { oldHistory } from './old-history.ts';

let platform: Platform;
let small: Platform;
beforeAll(async () => {
  [platform, small] = await Promise.all([startPlatform(), startPlatform({ site_bytes: 1_000_000 })]);
});
afterAll(() => Promise.all([platform?.close(), small?.close()]));

let sites = 0;
async function emptySite(on = platform) {
  const input = { name: `empty-${process.pid}-${++sites}`, title: 'Empty', template: null };
  const { status, body } = await on.call<{ id: string; template: unknown }>('POST', '/v1/sites', input);
  expect([status, body.template]).toEqual([200, null]);
  return { id: body.id, address: await on.address(body.id) };
}

async function newClone(path: string): Promise<void> {
  await git(path, ['init', '--quiet', '--initial-branch=main', '.']);
}

const push = (path: string, address: string, ref = 'HEAD:main') => tryGit(path, ['push', address, ref]);

test('a site without a template has no commit, and reads as empty', async () => {
  await using work = await folder();
  const { id, address } = await emptySite();
  for (const repository of ['source', 'content'] as const)
    expect(await platform.repositories.head(id, repository)).toBeNull();
  await git(work.path, ['clone', '--quiet', address, 'site']);
  expect((await platform.call('GET', `/v1/sites/${id}/files`)).body).toMatchObject({ kind: 'folder', items: [] });
  expect((await platform.call('GET', `/v1/sites/${id}`)).body).toMatchObject({ has_unpublished_changes: false });
  expect((await platform.call('GET', `/v1/sites/${id}/previews`)).status).toBe(200);
});

test('the first push brings any history, and later pushes obey the rules', async () => {
  await using work = await folder();
  const { id, address } = await emptySite();
  const tip = await oldHistory(work.path);
  const pushed = await push(work.path, address);
  expect([pushed.status, pushed.stderr]).toEqual([0, expect.stringContaining('main')]);
  expect(await platform.repositories.head(id, 'source')).toBe(tip);
  const { body } = await platform.call<{ items: { path: string }[] }>('GET', `/v1/sites/${id}/files?recursive=true`);
  expect(body.items.map(({ path }) => path)).toEqual(['src/pages/index.astro']);

  const tree = await git(work.path, ['rev-parse', 'main^{tree}']);
  const late = `tree ${tree}\nparent ${tip}\nauthor Bo <bo@example.com>1 +0000\ncommitter Bo <bo@example.com>1 +0000\n\nLate\n`;
  await git(work.path, ['update-ref', 'refs/heads/main', await writeObject(work.path, 'commit', late)]);
  expect(await push(work.path, address)).toMatchObject({
    status: 1,
    stderr: expect.stringContaining('missingSpaceBeforeDate'),
  });
  expect(await platform.repositories.head(id, 'source')).toBe(tip);
});

test('a first push’s tip obeys the rules, and no history may harm clones', async () => {
  await using work = await folder();
  const { id, address } = await emptySite();
  await newClone(work.path);
  await commitFiles(work.path, { 'package.json': '{}', 'public/app.js': 'alert(1)', 'src/content/a.md': 'a' });
  const { stderr } = await push(work.path, address);
  for (const said of [/package\.json is managed by the platform/, /public\/app\.js/, /content repository/])
    expect(stderr).toMatch(said);
  const tree = await writeTree(work.path, [{ path: '.git/config', bytes: 'x' }]);
  const who = 'Bo <bo@example.com> 1700000000 +0000';
  const first = await writeObject(work.path, 'commit', `tree ${tree}\nauthor ${who}\ncommitter ${who}\n\nBad\n`);
  const page = await writeTree(work.path, [{ path: 'a.txt', bytes: 'a' }]);
  const tip = `tree ${page}\nparent ${first}\nauthor ${who}\ncommitter ${who}\n\nGood\n`;
  await git(work.path, ['update-ref', 'refs/heads/main', await writeObject(work.path, 'commit', tip)]);
  expect((await push(work.path, address)).stderr).toMatch(/could harm anyone who clones/);
  expect(await platform.repositories.head(id, 'source')).toBeNull();
});

test('the size of the whole history is limited, also of the first push', async () => {
  await using work = await folder();
  const { id, address } = await emptySite(small);
  await newClone(work.path);
  await commitFiles(work.path, { 'large.txt': Buffer.alloc(1_500_000, 'a'), 'a.txt': 'a' });
  await git(work.path, ['rm', '--quiet', 'large.txt']);
  await git(work.path, ['commit', '--quiet', '--message', 'Smaller']);
  expect((await push(work.path, address)).stderr).toMatch(/decompresses to more than/);
  expect(await small.repositories.head(id, 'source')).toBeNull();
});

test('of two first pushes at once one succeeds, and the other loses nothing', async () => {
  await using one = await folder();
  await using other = await folder();
  for (let round = 0; round < 4; round += 1) {
    const { id, address } = await emptySite();
    const tips = [];
    for (const { path } of [one, other]) {
      await git(path, ['init', '--quiet', '--initial-branch=main', `site${round}`]);
      await commitFiles(`${path}/site${round}`, { 'a.txt': path });
      tips.push(await git(`${path}/site${round}`, ['rev-parse', 'HEAD']));
    }
    const ended = await Promise.all([one, other].map(({ path }) => push(`${path}/site${round}`, address)));
    const won = ended.findIndex(({ status }) => status === 0);
    expect(ended.map(({ status }) => status === 0).filter(Boolean)).toHaveLength(1);
    expect(await platform.repositories.head(id, 'source')).toBe(tips[won]);
  }
});

test('a commit by a call starts the source of a site without a template', async () => {
  const { id } = await emptySite();
  const change = { path: 'src/pages/index.astro', text: '<h1>Hello</h1>' };
  const { status, body } = await platform.call('POST', `/v1/sites/${id}/commits`, {
    message: 'Start',
    changes: [change],
  });
  expect([status, body]).toMatchObject([200, { files_changed: 1 }]);
  expect((await platform.call('GET', `/v1/sites/${id}`)).body).toMatchObject({
    unpublished_changes: { source: true, content: false },
  });
});
