import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { type CommentFixture, createCommentFixture } from './fixture.ts';

let fixture: CommentFixture;
beforeAll(async () => {
  fixture = await createCommentFixture({}, { open_comments_per_site: 5 });
});
afterAll(() => fixture?.close());

const words = ({ body }: { body: { messages: { body: string }[] } }) => body.messages.map((message) => message.body);

test('a thread has its words, author, page and place', async () => {
  const owner = await fixture.newOwner();
  const position = {
    selector: 'main > h1:nth-of-type(1)',
    quote: 'Fresh bread',
    x: 120.5,
    y: 88,
    within: { x: 0.25, y: 0.5 },
    viewport: { width: 390, height: 844 },
  };
  const { status, body } = await owner.post({ page: '/about/', body: '  Larger, please.\nAnd bolder. ', position });
  expect(status).toBe(200);
  expect(body).toMatchObject({
    site_id: owner.site.id,
    status: 'open',
    page: '/about/',
    position,
    deployment_id: null,
    screenshot: { missing: 'No screenshot was sent with the comment.' },
    resolved_at: null,
  });
  expect(body.id).toMatch(/^thread_/);
  expect(body.messages).toEqual([
    {
      id: expect.stringMatching(/^msg_/),
      author: expect.stringMatching(/^Owner/),
      author_kind: 'agent',
      author_name: expect.any(String),
      body: 'Larger, please.\nAnd bolder.',
      created_at: body.created_at,
    },
  ]);
  expect((await owner.list()).body.items).toEqual([body]);
});

test('missing parts of a place are null, and a thread may have no place', async () => {
  const owner = await fixture.newOwner();
  const { body } = await owner.open('Here', { position: { selector: '#top' } });
  expect(body.position).toEqual({ selector: '#top', quote: null, x: null, y: null, within: null, viewport: null });
  expect((await owner.open('Somewhere')).body.position).toBeNull();
});

test('both sides reply, resolve and reopen, and a note is a message', async () => {
  const owner = await fixture.newOwner();
  const helper = await fixture.newCollaborator(owner, owner.site.id);
  const theirs = fixture.commentsOf(helper, owner.site.id);
  const { body: opened } = await owner.open('The logo is too small.');
  expect(words(await theirs.reply(opened.id, 'How large?'))).toEqual(['The logo is too small.', 'How large?']);
  const resolved = await theirs.resolve(opened.id, 'Twice the size now.');
  expect(resolved.body).toMatchObject({ status: 'resolved', resolved_at: expect.any(String) });
  expect(words(resolved)).toEqual(['The logo is too small.', 'How large?', 'Twice the size now.']);
  const again = await owner.reopen(opened.id);
  expect(again.body).toMatchObject({ status: 'open', resolved_at: null });
  expect(words(again)).toHaveLength(3);
  expect((await owner.resolve(opened.id)).body.status).toBe('resolved');
});

test('resolving a resolved thread changes nothing', async () => {
  const owner = await fixture.newOwner();
  const { body: opened } = await owner.open();
  const { body: first } = await owner.resolve(opened.id);
  expect((await owner.resolve(opened.id)).body).toEqual(first);
  expect((await owner.reopen((await owner.open()).body.id)).body.status).toBe('open');
});

test('a body that is missing, empty or over 4,000 characters is invalid_body', async () => {
  const owner = await fixture.newOwner();
  const { body: thread } = await owner.open();
  for (const body of ['', '   ', 'x'.repeat(4001), 7, null, undefined]) {
    const opened = await owner.post({ page: '/', body });
    expect([opened.status, errorOf(opened).code]).toEqual([400, 'invalid_body']);
    const reply = await owner.call('POST', `/v1/comments/${thread.id}/reply`, { body: { message: body } });
    expect([reply.status, errorOf(reply).code]).toEqual([400, 'invalid_body']);
  }
  expect((await owner.open('x'.repeat(4000))).status).toBe(200);
  expect((await owner.reply(thread.id, '🥐'.repeat(2000))).status).toBe(200);
});

test('a note over 500 characters is note_too_long', async () => {
  const owner = await fixture.newOwner();
  const { body: thread } = await owner.open();
  const refused = await owner.resolve(thread.id, 'x'.repeat(501));
  expect([refused.status, errorOf(refused).code]).toEqual([400, 'note_too_long']);
  expect((await owner.list()).body.items[0].status).toBe('open');
  expect((await owner.resolve(thread.id, 'x'.repeat(500))).status).toBe(200);
});

test.each([
  ['a page of another host', { page: '//evil.example/', body: 'x' }, 'invalid_json'],
  ['an address for a page', { page: 'https://evil.example/', body: 'x' }, 'invalid_json'],
  ['a backslash in the page', { page: '/\\evil.example', body: 'x' }, 'invalid_json'],
  ['no page', { body: 'x' }, 'invalid_json'],
  ['a note without a thread', { page: '/', body: 'x', note: 'y' }, 'invalid_json'],
  ['an action without a thread', { action: 'resolve' }, 'not_found'],
  ['a thread without an action', { thread_id: 'own' }, 'invalid_json'],
  ['a thread and a new body', { thread_id: 'own', action: 'resolve', body: 'x' }, 'invalid_json'],
  ['an unknown action', { thread_id: 'own', action: 'delete' }, 'invalid_json'],
  ['an unknown field', { page: '/', body: 'x', author: 'somebody' }, 'invalid_json'],
  ['a place of infinite size', { page: '/', body: 'x', position: { x: 1e308 } }, 'invalid_json'],
  ['an overlong quote', { page: '/', body: 'x', position: { quote: 'x'.repeat(301) } }, 'invalid_json'],
])('a comment with %s is refused', async (_what, body, code) => {
  const owner = await fixture.newOwner();
  const { body: thread } = await owner.open();
  const sent = 'thread_id' in body ? { ...body, thread_id: thread.id } : body;
  expect(errorOf(await owner.post(sent)).code).toBe(code);
  expect((await owner.list()).body.items).toEqual([thread]);
});

test('a thread is found through its own site alone', async () => {
  const [owner, stranger] = [await fixture.newOwner(), await fixture.newOwner()];
  const { body: thread } = await owner.open('A secret of ours');
  const second = await fixture.newSite(owner);
  const answers = [
    await stranger.resolve(thread.id),
    await stranger.reply(thread.id, 'Hello'),
    await stranger.call('GET', `/v1/comments/${thread.id}/screenshot`),
    await stranger.call('GET', `/v1/sites/${owner.site.id}/comments`),
    await fixture.commentsOf(owner, second.id).resolve(thread.id),
  ];
  for (const answer of answers) {
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
    expect(answer.text).not.toContain('secret');
  }
  expect((await owner.list()).body.items).toEqual([thread]);
});

test('the list is filtered by status and by since, newest first, in pages', async () => {
  const owner = await fixture.newOwner();
  const first = (await owner.open('First')).body;
  const second = (await owner.open('Second')).body;
  const third = (await owner.open('Third')).body;
  await owner.resolve(second.id);
  const ids = async (query: string) => (await owner.list(query)).body.items.map(({ id }: { id: string }) => id);
  expect(await ids('')).toEqual([third.id, second.id, first.id]);
  expect(await ids('?status=open')).toEqual([third.id, first.id]);
  expect(await ids('?status=resolved')).toEqual([second.id]);
  fixture.skip(1000);
  const moment = fixture.clock.now().toISOString();
  expect(await ids(`?since=${moment}`)).toEqual([]);
  await owner.reply(first.id, 'Still there?');
  expect(await ids(`?since=${moment}`)).toEqual([first.id]);
  expect(await ids(`?since=${encodeURIComponent('2020-01-01T00:00:00+02:00')}&status=open`)).toEqual([
    third.id,
    first.id,
  ]);
  const { body: page } = await owner.list('?limit=2');
  expect(page.items.map(({ id }: { id: string }) => id)).toEqual([third.id, second.id]);
  expect(await ids(`?limit=2&cursor=${page.next_cursor}`)).toEqual([first.id]);
  expect(errorOf(await owner.list(`?status=open&cursor=${page.next_cursor}`)).code).toBe('invalid_cursor');
});

test('an unknown status is invalid_status, an invalid time invalid_since', async () => {
  const owner = await fixture.newOwner();
  expect(errorOf(await owner.list('?status=closed')).code).toBe('invalid_status');
  for (const since of ['yesterday', '2026-13-01T00:00:00Z', '2026-01-01', '1700000000', '']) {
    const answer = await owner.list(`?since=${since}`);
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_since']);
  }
});

test('lists and reads of a site contain its number of open threads', async () => {
  const owner = await fixture.newOwner();
  const empty = await fixture.newSite(owner);
  await owner.open();
  const { body: thread } = await owner.open();
  const counts = async () => {
    const { items } = (await owner.call('GET', '/v1/sites')).body;
    const single = await owner.call('PATCH', `/v1/sites/${owner.site.id}`, { body: { title: 'Again' } });
    const listed = Object.fromEntries(
      items.map((site: { id: string; open_comments: number }) => [site.id, site.open_comments]),
    );
    expect(single.body.open_comments).toBe(listed[owner.site.id]);
    return [listed[owner.site.id], listed[empty.id]];
  };
  expect(await counts()).toEqual([2, 0]);
  await owner.resolve(thread.id);
  expect(await counts()).toEqual([1, 0]);
});

test('a repeated call under one key creates one thread or reply', async () => {
  const owner = await fixture.newOwner();
  const once = { 'idempotency-key': 'one' };
  const both = await Promise.all([
    owner.post({ page: '/', body: 'Once' }, once),
    owner.post({ page: '/', body: 'Once' }, once),
  ]);
  expect(both[1].body).toEqual(both[0].body);
  const { id } = both[0].body;
  const replies = await Promise.all([owner.reply(id, 'Yes', once), owner.reply(id, 'Yes', once)]);
  expect(replies.map(words)).toEqual([
    ['Once', 'Yes'],
    ['Once', 'Yes'],
  ]);
  const resolve = { thread_id: id, action: 'resolve', note: 'Done' };
  const notes = [
    await owner.post(resolve, { 'idempotency-key': 'two' }),
    await owner.post(resolve, { 'idempotency-key': 'two' }),
  ];
  expect(notes.map(({ body }) => body.messages.length)).toEqual([3, 3]);
  expect((await owner.list()).body.items).toHaveLength(1);
});

test('the cap on open comments holds under concurrent calls, and resolving frees room', async () => {
  const owner = await fixture.newOwner();
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => owner.open(`Number ${n}`)));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  expect(errorOf(answers.find(({ status }) => status !== 200) as (typeof answers)[0]).code).toBe('plan_limit');
  const [first] = (await owner.list()).body.items;
  await owner.resolve(first.id);
  expect((await owner.open()).status).toBe(200);
  expect(errorOf(await owner.reopen(first.id)).code).toBe('plan_limit');
});

test('an archived site keeps its threads readable, and accepts no comments', async () => {
  const owner = await fixture.newOwner();
  const { body: thread } = await owner.open();
  await owner.call('POST', `/v1/sites/${owner.site.id}/archive`);
  for (const answer of [await owner.open(), await owner.reply(thread.id, 'x'), await owner.resolve(thread.id)]) {
    expect([answer.status, errorOf(answer).code]).toEqual([409, 'site_archived']);
  }
  expect((await owner.list()).body.items).toEqual([thread]);
});
