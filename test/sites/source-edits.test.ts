/** Commits by a call: words replaced in place, on `main` or a preview's branch, with a diff of what changed. */
import { afterAll, beforeEach, expect, test, vi } from 'vitest';
import type { Repositories } from '#providers/repositories.ts';
import { createFixture, createSite, errorOf } from '#test/api/fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
let site: { id: string };
beforeEach(async () => {
  site = await createSite(owner, { template: 'blank' });
});

const path = 'src/pages/about.md';
const commit = (changes: object[], more: object = {}) =>
  owner.call('POST', `/v1/sites/${site.id}/commits`, { body: { message: 'Change', changes, ...more } });
const edit = (edits: { find: string; replace: string }[], more: object = {}) => commit([{ path, edits }], more);
const filesAt = (query: string) => owner.call('GET', `/v1/sites/${site.id}/files?${query}`);
const read = async (ref = 'main') => (await filesAt(`path=${path}&ref=${ref}`)).body.text;

test('edits replace words in order, and the answer shows what changed', async () => {
  await commit([{ path, text: 'Open on Monday.\nClosed on Sunday.\n' }]);
  const { status, body } = await edit([
    { find: 'Monday', replace: 'Tuesday $& $1' },
    { find: 'Open on Tuesday', replace: 'Open from Tuesday' },
  ]);
  expect([status, body.files_changed, body.branch]).toEqual([200, 1, 'main']);
  expect(await read()).toBe('Open from Tuesday $& $1.\nClosed on Sunday.\n');
  expect(body.diff).toContain('-Open on Monday.\n+Open from Tuesday $& $1.\n');
  const again = await commit([{ path, text: await read() }]);
  expect([again.body.files_changed, again.body.diff]).toEqual([0, '']);
  const long = await commit([{ path: 'src/pages/long.md', text: 'word '.repeat(5000) }]);
  expect([long.body.diff.length < 4010, long.body.diff.endsWith('…')]).toEqual([true, true]);
});

test.each([
  ['words that are not there', [{ find: 'Friday', replace: '' }], 'nowhere'],
  ['words that occur twice', [{ find: ' on ', replace: '' }], '2 times'],
  ['words that overlap themselves', [{ find: 'aa', replace: '' }], '2 times'],
  [
    'an edit that an earlier one made impossible',
    [
      { find: 'Open', replace: '' },
      { find: 'Open', replace: '' },
    ],
    'edit 2',
  ],
])('%s change nothing', async (_what, edits, says) => {
  const text = 'Open on Monday.\nClosed on Sunday. aaa\n';
  await commit([{ path, text }]);
  const refused = await commit([
    { path: 'src/pages/other.md', text: 'x' },
    { path, edits },
  ]);
  expect([refused.status, errorOf(refused).code]).toEqual([409, 'edit_mismatch']);
  expect(errorOf(refused).message).toContain(says);
  expect(errorOf(refused).message).toContain(path);
  expect([await read(), (await filesAt('path=src/pages/other.md')).status]).toEqual([text, 404]);
});

test('what is not there can be neither edited nor deleted', async () => {
  for (const change of [{ delete: true }, { edits: [{ find: 'a', replace: 'b' }] }])
    expect(errorOf(await commit([{ path, ...change }])).code).toBe('not_found');
  await commit([{ path, text: 'x' }]);
  expect((await commit([{ path, delete: true }])).body.files_changed).toBe(1);
  expect(errorOf(await commit([{ path, delete: true }])).code).toBe('not_found');
  expect(errorOf(await commit([{ path, text: 'x', edits: [{ find: 'a', replace: 'b' }] }])).code).toBe('invalid_json');
});

test('a commit to a preview’s branch leaves main as it is', async () => {
  await commit([{ path, text: 'Open.\n' }]);
  const { body } = await edit([{ find: 'Open', replace: 'Closed' }], { branch: 'preview/2' });
  expect([body.branch, await read(), await read('preview/2')]).toEqual(['preview/2', 'Open.\n', 'Closed.\n']);
  await edit([{ find: 'Closed', replace: 'Shut' }], { branch: 'preview/2', expected_head: body.commit });
  expect(await read('preview/2')).toBe('Shut.\n');
  const slot = (await owner.call('GET', `/v1/sites/${site.id}/previews/2`)).body;
  expect(slot.holds_work).toBe(true);
  expect(errorOf(await edit([{ find: 'Open', replace: 'x' }], { branch: 'preview/99' })).code).toBe('invalid_slot');
  const none = [{ find: 'none', replace: 'x' }];
  const begun = errorOf(await edit(none, { branch: 'preview/2' }));
  expect(begun.next_action).toContain(`?path=${path}&ref=preview/2,`);
  const missing = errorOf(await commit([{ path: 'src/gone.md', delete: true }], { branch: 'preview/2' }));
  expect(missing.next_action).toContain('?ref=preview/2&recursive=true');
  const other = errorOf(await edit(none, { branch: 'preview/3' }));
  expect([other.code, other.next_action]).toEqual(['edit_mismatch', expect.stringContaining(`?path=${path},`)]);
  // A refused commit makes no branch.
  expect((await filesAt(`path=${path}&ref=preview/3`)).status).toBe(404);
  for (const branch of ['preview/0', 'master', 'preview/../main', 'refs/heads/main'])
    expect([branch, (await edit([{ find: 'Open', replace: 'x' }], { branch })).status]).toEqual([branch, 400]);
});

test('a repeated call returns the commit that it made', async () => {
  await commit([{ path, text: 'Open.\n' }]);
  const send = () =>
    owner.call('POST', `/v1/sites/${site.id}/commits`, {
      headers: { 'idempotency-key': 'one-edit' },
      body: {
        message: 'Close',
        branch: 'preview/1',
        changes: [{ path, edits: [{ find: 'Open', replace: 'Closed' }] }],
      },
    });
  const [first, second] = [await send(), await send()];
  expect(second.body).toEqual(first.body);
  expect(first.body.diff).toContain('+Closed.');
});

/** The next commit is made, and its call dies before or after the commit is recorded. */
function dieAfterCommit(when: 'before' | 'after') {
  const repositories = fixture.deps.repositories as Repositories;
  const real = repositories.commit;
  if (when === 'after') return vi.spyOn(repositories, 'commits').mockRejectedValueOnce(new Error('killed'));
  return vi.spyOn(repositories, 'commit').mockImplementationOnce(async (...which) => {
    await real(...which);
    throw new Error('killed');
  });
}

test.each(['before', 'after'] as const)('a commit that was lost %s its record is made once', async (when) => {
  await commit([
    { path, text: 'Open.\n' },
    { path: 'src/pages/old.md', text: 'Old.\n' },
  ]);
  const send = () =>
    owner.call('POST', `/v1/sites/${site.id}/commits`, {
      headers: { 'idempotency-key': 'lost-edit' },
      // Edits that match what they make, and a file that is gone afterwards.
      body: {
        message: 'Extend',
        changes: [
          { path, edits: [{ find: 'Open', replace: 'Open daily' }] },
          { path: 'src/pages/old.md', delete: true },
        ],
      },
    });
  const dying = dieAfterCommit(when);
  expect((await send()).status).toBe(500);
  dying.mockRestore();
  await commit([{ path: 'src/pages/next.md', text: 'Next.\n' }]);
  const again = await send();
  expect([again.status, again.body.files_changed, await read()]).toEqual([200, 2, 'Open daily.\n']);
  expect(again.body.diff).toContain('+Open daily.');
  expect((await send()).body).toEqual(again.body);
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
  const recorded = items.filter(({ detail }: { detail: { commit?: string } }) => detail.commit === again.body.commit);
  expect(recorded).toMatchObject([{ action: 'repository.committed', detail: { files_changed: 2, branch: 'main' } }]);
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('several files are read at once, up to 20 and 1 MiB', async () => {
  const paths = Array.from({ length: 21 }, (_, n) => `src/pages/p${n}.md`);
  await commit(paths.map((one) => ({ path: one, text: `page ${one}` })));
  const query = (some: string[]) => some.map((one) => `path=${one}`).join('&');
  const { body } = await filesAt(query(paths.slice(0, 20)));
  expect([body.kind, body.items.length, body.items[3]]).toMatchObject([
    'files',
    20,
    { path: paths[3], text: `page ${paths[3]}` },
  ]);
  expect((await filesAt(query(paths))).status).toBe(400);
  const missing = await filesAt(query([paths[0] ?? '', 'src/none.md']));
  expect([errorOf(missing).code, errorOf(missing).message]).toEqual([
    'not_found',
    expect.stringContaining('src/none.md'),
  ]);
  const half = 'word '.repeat(120_000);
  for (const one of ['src/pages/a.md', 'src/pages/b.md']) await commit([{ path: one, text: half }]);
  expect(errorOf(await filesAt(query(['src/pages/a.md', 'src/pages/b.md']))).code).toBe('plan_limit');
});
