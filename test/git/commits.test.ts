import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { folder, git } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { sourceOf, write } from './source.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const { commit, files } = sourceOf(() => platform);

describe('a commit by the API', () => {
  test('names the agent as author and the account as committer, and clones see it', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a', 'old/b.txt': 'b' });
    const changes = [
      { path: 'a.txt', text: 'changed\n' },
      { path: 'old/b.txt', delete: true },
      { path: 'src/n\u00e9w.bin', base64: Buffer.from([0, 1, 255]).toString('base64') },
    ];
    const { body } = await commit(siteId, { message: 'Rework\n\nAll of it.', changes });
    expect(body).toMatchObject({
      repository: 'source',
      branch: 'main',
      files_changed: 3,
      subject: 'Rework',
      author: 'test',
    });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId), '.']);
    expect(await git(work.path, ['rev-parse', 'HEAD'])).toBe(body.commit);
    expect(await git(work.path, ['log', '-1', '--format=%an <%ae> %cn <%ce> %b'])).toBe(
      'test <ada@example.com> Ada <ada@example.com> All of it.',
    );
    expect(await git(work.path, ['-c', 'core.quotePath=false', 'ls-files'])).toBe('a.txt\nsrc/n\u00e9w.bin');
  });

  test('below src/content/ goes to the content repository, and cannot span both', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const { body } = await commit(siteId, write('src/content/posts/one.md', '# One'));
    expect(body.repository).toBe('content');
    expect(await platform.repositories.head(siteId, 'content')).toBe(body.commit);
    const before = await platform.repositories.head(siteId, 'source');
    const crossing = {
      message: 'x',
      changes: [
        { path: 'src/content/a.md', text: 'a' },
        { path: 'b.txt', text: 'b' },
      ],
    };
    expect(await commit(siteId, crossing)).toMatchObject({
      status: 400,
      body: { error: { code: 'crosses_repositories' } },
    });
    expect(await platform.repositories.head(siteId, 'source')).toBe(before);
    expect(await platform.repositories.head(siteId, 'content')).toBe(body.commit);
  });

  test('is refused when main has moved past expected_head', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const head = await platform.repositories.head(siteId, 'source');
    const first = await commit(siteId, { ...write('a.txt', 'b'), expected_head: head });
    expect(first.status).toBe(200);
    const second = await commit(siteId, { ...write('a.txt', 'c'), expected_head: head });
    expect(second).toMatchObject({
      status: 409,
      body: { error: { code: 'stale_hash', next_action: expect.stringMatching(/GET/) } },
    });
    expect(await platform.repositories.head(siteId, 'source')).toBe(first.body.commit);
  });

  test('without effect creates no commit', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const head = await platform.repositories.head(siteId, 'source');
    const again = await commit(siteId, { ...write('a.txt', 'a'), expected_head: 'f'.repeat(40) });
    expect(again.body).toMatchObject({ commit: head, files_changed: 0 });
    const key = { 'idempotency-key': 'commit-once' };
    const first = await commit(siteId, write('a.txt', 'b'), key);
    await commit(siteId, write('a.txt', 'c'));
    expect((await commit(siteId, write('a.txt', 'b'), key)).body).toEqual(first.body);
  });

  test('loses none of many concurrent commits', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const answers = await Promise.all(['1', '2', '3', '4'].map((name) => commit(siteId, write(`${name}.txt`, name))));
    const made = answers.flatMap(({ status }, index) => (status === 200 ? [`${index + 1}.txt`] : []));
    expect(made.length).toBeGreaterThan(0);
    const { items } = (await files(siteId)).body;
    expect(items.map(({ path }) => path)).toEqual([...made, 'a.txt']);
  });

  test.each([
    [
      'one path twice',
      [
        { path: 'a', text: '1' },
        { path: 'a', text: '2' },
      ],
      'invalid_path',
    ],
    ['a file where a folder is', [{ path: 'old', text: '1' }], 'invalid_path'],
    ['a folder where a file is', [{ path: 'a.txt/b', text: '1' }], 'invalid_path'],
    ['a path from the root', [{ path: '/a', text: '1' }], 'invalid_path'],
    ['a path that ends in a slash', [{ path: 'a/', text: '1' }], 'invalid_path'],
    ['no content', [{ path: 'a' }], 'invalid_json'],
    ['text and base64', [{ path: 'a', text: '1', base64: 'MQ==' }], 'invalid_json'],
    ['invalid base64', [{ path: 'a', base64: '***' }], 'invalid_json'],
    ['an unknown field', [{ path: 'a', text: '1', mode: '120000' }], 'invalid_json'],
    ['nothing at all', [], 'invalid_json'],
  ])('is refused with %s', async (_what, changes, code) => {
    const siteId = await platform.site({ 'a.txt': 'a', 'old/b.txt': 'b' });
    const head = await platform.repositories.head(siteId, 'source');
    const answer = await commit(siteId, { message: 'x', changes });
    expect(answer).toMatchObject({ status: 400, body: { error: { code } } });
    expect(await platform.repositories.head(siteId, 'source')).toBe(head);
  });

  test('may replace a removed folder by a file', async () => {
    const siteId = await platform.site({ 'old/b.txt': 'b' });
    const changes = [
      { path: 'old', text: '1' },
      { path: 'old/b.txt', delete: true },
    ];
    expect((await commit(siteId, { message: 'x', changes })).status).toBe(200);
    expect((await files(siteId)).body.items).toEqual([{ path: 'old', kind: 'file', bytes: 1 }]);
  });

  test('keeps an executable file executable', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId), '.']);
    await git(work.path, ['update-index', '--chmod=+x', 'a.txt']);
    await git(work.path, ['commit', '--quiet', '-m', 'x']);
    await git(work.path, ['push', '--quiet']);
    const { body } = await commit(siteId, write('a.txt', 'b'));
    expect((await platform.repositories.listTree(siteId, 'source', body.commit))[0]?.mode).toBe('100755');
  });
});
