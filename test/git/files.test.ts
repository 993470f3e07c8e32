import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';
import { newId } from '#runtime/ids.ts';
import { photographs, pictures } from '#test/material/photographs.ts';
import { commitFiles, commitTree, folder, git, tryGit, writeRawTree, writeTree } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { type File, sourceOf, write } from './source.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

type Credential = { id: string; username: string; password: string; url: string; expires_at: string };
const { commit, files } = sourceOf(() => platform);

test('a push is stored as sent, and names photos with a place', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  await git(work.path, ['clone', '--quiet', await platform.address(siteId), '.']);
  const photos = photographs(7).map(({ name, bytes }) => ({ path: `src/assets/${name}`, bytes }));
  const files = [...photos, { path: 'src/assets/plain.jpg', bytes: pictures.jpg }];
  const head = (await platform.repositories.head(siteId, 'source')) ?? '';
  const pushed = await commitTree(work.path, await writeTree(work.path, files), [head]);
  const { status, stderr } = await tryGit(work.path, ['push', 'origin', `${pushed}:refs/heads/main`]);
  expect([status, await platform.repositories.head(siteId, 'source')]).toEqual([0, pushed]);
  expect(stderr).toContain('Warning (photo_location): photos that name the place where they were taken: 7');
  expect(stderr.match(/remote: +src\/assets\/.+/g)).toHaveLength(5);
  expect(stderr).toContain('… and 2 more.');
  expect(stderr).not.toContain('plain.jpg');
});

describe('git credentials', () => {
  test('open their own repository at their own address', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const input = { repository: 'content', access: 'write' };
    const { status, body } = await platform.call<Credential>('POST', `/v1/sites/${siteId}/git-credentials`, input);
    expect(status).toBe(200);
    expect(body.url).toMatch(new RegExp(`/git/${siteId}\\.content\\.git$`));
    expect(new Date(body.expires_at).getTime() - platform.deps.clock.now().getTime()).toBe(86_400_000);
    const address = new URL(platform.url + new URL(body.url).pathname);
    Object.assign(address, { username: body.username, password: body.password });
    await git(work.path, ['clone', '--quiet', address.href, '.']);
    await commitFiles(work.path, { 'a.md': '# A' });
    await git(work.path, ['push', '--quiet']);
  });

  test('are returned again to a repeated call, and created once', async () => {
    const siteId = await platform.site();
    const ask = () =>
      platform.call<Credential>(
        'POST',
        `/v1/sites/${siteId}/git-credentials`,
        { repository: 'source', access: 'read' },
        { 'idempotency-key': 'once' },
      );
    const first = await ask();
    expect(first.body.password).toMatch(/^frg_/);
    expect((await ask()).body).toEqual(first.body);
  });

  test.each([
    [{ repository: 'both', access: 'read' }],
    [{ repository: 'source' }],
    [{ repository: 'source', access: 'admin' }],
    [{ repository: 'source', access: 'read', expires_in_seconds: 59 }],
    [{ repository: 'source', access: 'read', expires_in_seconds: 90 * 86_400 + 1 }],
    [{ repository: 'source', access: 'read', more: 1 }],
  ])('are not created from %j', async (input) => {
    const answer = await platform.call('POST', `/v1/sites/${await platform.site()}/git-credentials`, input);
    expect(answer).toMatchObject({ status: 400, body: { error: { code: 'invalid_json' } } });
  });
});

describe('the files of a site', () => {
  test('are one tree of both repositories', async () => {
    const siteId = await platform.site({ 'src/pages/a.astro': 'abc', 'z.txt': 'z' });
    await commit(siteId, write('src/content/posts/one.md', '# One'));
    const root = (await files(siteId)).body;
    expect(root).toMatchObject({ path: '', kind: 'folder', next_cursor: null });
    expect(root.items).toEqual([
      { path: 'src', kind: 'folder', bytes: 8 },
      { path: 'z.txt', kind: 'file', bytes: 1 },
    ]);
    const inside = (await files(siteId, '?path=src')).body.items.map(({ path }) => path);
    expect(inside).toEqual(['src/content', 'src/pages']);
    const all = (await files(siteId, '?recursive=true')).body.items.map(({ path }) => path);
    expect(all).toEqual(['src/content/posts/one.md', 'src/pages/a.astro', 'z.txt']);
    const post = (await files<File>(siteId, '?path=src/content/posts/one.md')).body;
    expect(post).toMatchObject({
      kind: 'file',
      bytes: 5,
      text: '# One',
      repository: 'content',
      commit: root.commits.content,
    });
  });

  test('are base64 unless they are text', async () => {
    const siteId = await platform.site({ 'a.bin': Buffer.from([0, 255]) });
    const { body } = await files<File>(siteId, '?path=a.bin');
    expect(body).toMatchObject({ bytes: 2, base64: 'AP8=' });
    expect(body.text).toBeUndefined();
  });

  test('have pages, and a cursor works for its own list alone', async () => {
    const siteId = await platform.site({ a: '', b: '', c: '', 'd/e': '', 'd/f': '' });
    const first = (await files(siteId, '?limit=3')).body;
    expect(first.items.map(({ path }) => path)).toEqual(['a', 'b', 'c']);
    const second = (await files(siteId, `?limit=3&cursor=${first.next_cursor}`)).body;
    expect(second).toMatchObject({ items: [{ path: 'd' }], next_cursor: null });
    const foreign = await files(siteId, `?path=d&cursor=${first.next_cursor}`);
    expect(foreign).toMatchObject({ status: 400, body: { error: { code: 'invalid_cursor' } } });
  });

  test('are readable by commit and by slot', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'old' });
    const old = await platform.repositories.head(siteId, 'source');
    await commit(siteId, write('a.txt', 'new'));
    await commit(siteId, write('src/content/a.md', 'post'));
    expect((await files<File>(siteId, `?path=a.txt&ref=${old}`)).body.text).toBe('old');
    await git(work.path, ['clone', '--quiet', await platform.address(siteId), '.']);
    await commitFiles(work.path, { 'a.txt': 'slot' });
    await git(work.path, ['push', '--quiet', 'origin', 'HEAD:preview/2']);
    expect((await files<File>(siteId, '?path=a.txt&ref=preview/2')).body.text).toBe('slot');
    expect((await files<File>(siteId, '?path=src/content/a.md&ref=preview/2')).body.text).toBe('post');
  });

  test.each([
    ['?path=nothing', 404, 'not_found'],
    ['?path=../etc/passwd', 404, 'not_found'],
    ['?ref=feature', 404, 'not_found'],
    ['?ref=preview/3', 404, 'not_found'],
    ['?ref=--help', 404, 'not_found'],
    [`?ref=${'f'.repeat(40)}`, 404, 'not_found'],
    [`?ref=${newId('dep')}`, 404, 'not_found'],
    ['?limit=0', 400, 'invalid_limit'],
    ['?recursive=maybe', 400, 'invalid_input'],
    ['?branch=main', 400, 'invalid_input'],
  ])('are not found by %s', async (query, status, code) => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    expect(await files(siteId, query)).toMatchObject({ status, body: { error: { code } } });
  });

  test('of an earlier commit with more files than any site are refused', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId), '.']);
    const head = await git(work.path, ['rev-parse', 'HEAD']);
    const entry = { mode: '40000', oid: await writeTree(work.path, [{ path: 'x', bytes: 'x' }]) };
    for (let level = 0; level < 9; level++) {
      const names = Array.from({ length: 20 }, (_, at) => Buffer.from(`d${10 + at}`));
      entry.oid = await writeRawTree(
        work.path,
        names.map((name) => ({ ...entry, name })),
      );
    }
    const bad = await commitTree(work.path, entry.oid, [head]);
    const good = await commitTree(work.path, await writeTree(work.path, [{ path: 'a.txt', bytes: 'a' }]), [bad]);
    await git(work.path, ['push', '--quiet', 'origin', `${good}:refs/heads/main`]);
    const answer = await files(siteId, `?ref=${bad}`);
    expect(answer).toMatchObject({
      body: { error: { code: 'plan_limit', message: expect.stringMatching(/more files/) } },
    });
    // This filter would walk every path of that commit.
    const filter = `--filter=sparse:oid=${await git(work.path, ['rev-parse', `${head}:a.txt`])}`;
    const address = await platform.address(siteId);
    const clone = await tryGit(work.path, ['clone', '--quiet', '--bare', filter, address, 'sparse']);
    expect(clone.stderr).toMatch(/filter 'sparse:oid' not supported/);
  });

  test("of another account's site are not found, nor anything else of its source", async () => {
    const em = platform.deps.em();
    const stranger = em.create(Account, {
      id: newId('acct'),
      name: 'Eve',
      email: 'eve@example.com',
      createdAt: platform.deps.clock.now(),
    });
    await em.flush();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await platform.deps.em().nativeUpdate(Site, { id: siteId }, { account: stranger.id });
    const missing = { status: 404, body: { error: { code: 'not_found' } } };
    expect(await files(siteId)).toMatchObject(missing);
    expect(await commit(siteId, write('a.txt', 'b'))).toMatchObject(missing);
    const input = { repository: 'source', access: 'read' };
    expect(await platform.call('POST', `/v1/sites/${siteId}/git-credentials`, input)).toMatchObject(missing);
  });
});
