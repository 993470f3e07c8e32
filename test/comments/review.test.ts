import { afterAll, beforeAll, expect, test } from 'vitest';
import { blockSite, unblockSite } from '#db/sites/transitions.ts';
import { callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { commentsOf } from './fixture.ts';
import { createLinkFixture, type LinkFixture, secretOf } from './link-fixture.ts';

let fixture: LinkFixture;
beforeAll(async () => {
  fixture = await createLinkFixture();
});
afterAll(() => fixture?.close());

test('a link reads and writes its site’s comments as its creator, and nothing else', async () => {
  const [owner, other] = [await fixture.newSite(), await fixture.newSite()];
  const frame = fixture.asFrame(secretOf((await owner.review()).body));
  const { body: theirs } = await other.open('Not yours');
  const position = {
    selector: 'h1',
    quote: 'Hello',
    x: 1,
    y: 2,
    within: { x: 0, y: 0.5 },
    viewport: { width: 390, height: 844 },
  };
  const made = await frame.comment({ body: 'Larger', position, missing: 'failed' });
  expect(made.body.thread).toMatchObject({
    site_id: owner.site.id,
    page: '/',
    position,
    screenshot: { missing: 'The browser could not capture the page.' },
    messages: [{ author_kind: 'owner', body: 'Larger' }],
  });
  expect((await owner.list()).body.items).toEqual([made.body.thread]);
  const { id } = made.body.thread;
  await owner.reply(id, 'How large?');
  expect(
    (await frame.answer(id, { message: 'Twice' })).body.thread.messages.map(
      (m: { author_kind: string }) => m.author_kind,
    ),
  ).toEqual(['owner', 'agent', 'owner']);
  expect((await frame.answer(id, { action: 'resolve' })).body.thread.status).toBe('resolved');
  expect((await frame.answer(id, { action: 'reopen' })).body.thread.status).toBe('open');
  expect((await frame.threads()).body.threads.map((thread: { id: string }) => thread.id)).toEqual([id]);
  for (const sent of [{ message: 'x' }, { action: 'resolve' }]) {
    expect(errorOf(await frame.answer(theirs.id, sent)).code).toBe('not_found');
  }
  expect(errorOf(await frame.answer(id, {})).code).toBe('invalid_json');
  expect((await other.list()).body.items).toEqual([theirs]);
});

test('a link gives access to no other site and no API call', async () => {
  const owner = await fixture.newSite();
  const second = await createSite(owner);
  const secret = secretOf((await owner.review()).body);
  const { body: elsewhere } = await commentsOf(owner, second.id).open('Elsewhere');
  const frame = fixture.asFrame(secret);
  expect(errorOf(await frame.answer(elsewhere.id, { message: 'x' })).code).toBe('not_found');
  expect((await frame.threads()).text).not.toContain('Elsewhere');
  for (const token of [secret, secret.replace('frr_', 'fro_')]) {
    const answer = await callWith(fixture.url, token)('GET', `/v1/sites/${owner.site.id}`);
    expect(errorOf(answer).code).toBe('unauthorized');
  }
});

test('without its key, the frame’s calls are not found', async () => {
  const owner = await fixture.newSite();
  const secret = secretOf((await owner.review()).body);
  const call = callWith(fixture.url);
  const cookie = `__Host-frontage_review_${owner.site.public_id}=${secret}`;
  for (const headers of [{}, { cookie }, { 'x-review': `frr_${'0'.repeat(43)}` }, { 'x-review': owner.token }]) {
    const sent = { body: { page: '/', body: 'x', position: {} }, headers };
    expect(errorOf(await call('POST', '/review/threads', sent)).code).toBe('not_found');
    expect(errorOf(await call('GET', '/review/threads', { headers })).code).toBe('not_found');
  }
  expect((await owner.list()).body.items).toEqual([]);
});

test('a comment repeated under one key is one comment', async () => {
  const owner = await fixture.newSite();
  const frame = fixture.asFrame(secretOf((await owner.review()).body));
  const key = { 'idempotency-key': crypto.randomUUID() };
  const both = await Promise.all([frame.comment({ body: 'Once' }, key), frame.comment({ body: 'Once' }, key)]);
  expect(both.map(({ status }) => status)).toEqual([200, 200]);
  expect((await owner.list()).body.items).toHaveLength(1);
});

test('each comment has its reviewer’s name, or that of its agent', async () => {
  const owner = await fixture.newSite();
  const helper = await people(fixture).newCollaborator(owner, owner.site.id);
  const frame = fixture.asFrame(secretOf((await owner.review()).body));
  const { body: made } = await frame.comment({ author_name: ' Ann <b>Smith</b> ' });
  const { id } = made.thread;
  await frame.answer(id, { message: 'Nobody said this' });
  await frame.answer(id, { message: 'Twice', author_name: 'Bo' });
  await owner.reply(id, 'Done');
  await commentsOf(helper, owner.site.id).reply(id, 'Done too');
  const names = ({ messages }: { messages: { author_name: string | null }[] }) =>
    messages.map((message) => message.author_name);
  const [token] = (await owner.call('GET', '/v1/tokens')).body.items;
  const seen = ['Ann <b>Smith</b>', null, 'Bo', token.name, null];
  expect(names((await owner.list()).body.items[0])).toEqual(seen);
  expect(names((await frame.threads()).body.threads[0])).toEqual(seen);
  // The name of a token is its account's own business.
  const theirs = names((await commentsOf(helper, owner.site.id).list()).body.items[0]);
  expect(theirs).toEqual(['Ann <b>Smith</b>', null, 'Bo', null, expect.any(String)]);
  await frame.answer(id, { message: 'Thank you', author_name: 'Ann' });
  const [item] = (await owner.call('GET', '/v1/inbox')).body.items;
  expect([item.kind, item.who, item.title.startsWith('Ann has commented')]).toEqual(['open_comment', 'Ann', true]);
  await frame.answer(id, { action: 'resolve', author_name: 'Ann' });
  const { text } = await owner.call('GET', `/v1/sites/${owner.site.id}/history`);
  expect(text).toContain('comment.resolved');
  expect(text).not.toMatch(/Ann|Smith/);
});

test.each([
  ['too long', 'n'.repeat(61)],
  ['a host', 'Ann at evil-bakery.com'],
  ['an address', 'ann@bakery.example'],
  ['a URL', 'https://bakery'],
  ['bidirectional', 'Ann \u202egro.live'],
  ['two lines', 'Ann\nSmith'],
  ['blank', '  '],
])('a reviewer’s name that is %s is refused, and no comment made', async (_what, author_name) => {
  const owner = await fixture.newSite();
  const frame = fixture.asFrame(secretOf((await owner.review()).body));
  const key = { 'idempotency-key': crypto.randomUUID() };
  const refused = await frame.comment({ author_name }, key);
  expect(errorOf(refused).code).toBe('invalid_visitor');
  expect(errorOf(refused).message).toMatch(/^Enter a name of at most 60 characters/);
  expect((await owner.list()).body.items).toEqual([]);
  // The frame sends the corrected name under the same key.
  expect((await frame.comment({ author_name: 'Ann' }, key)).status).toBe(200);
});

test('a collaborator’s link acts as the collaborator', async () => {
  const owner = await fixture.newSite();
  const helper = await people(fixture).newCollaborator(owner, owner.site.id);
  const { body } = await commentsOf(helper, owner.site.id).review();
  const { body: made } = await fixture.asFrame(secretOf(body)).comment({});
  expect(made.thread.messages[0].author_kind).toBe('collaborator');
});

test('a link opens nothing once it, its creator’s access or its site has ended', async () => {
  const owner = await fixture.newSite();
  const helper = await people(fixture).newCollaborator(owner, owner.site.id);
  const made = {
    ended: (await owner.review()).body,
    short: (await owner.review({ expires_in_seconds: 60 })).body,
    helpers: (await commentsOf(helper, owner.site.id).review()).body,
    archived: (await owner.review()).body,
  };
  const states = () =>
    Promise.all(
      Object.values(made).map(async (link) => {
        const secret = secretOf(link);
        const page = await fixture.open(secret);
        const threads = await fixture.asFrame(secret).threads();
        const written = await fixture.asFrame(secret).comment({});
        expect([threads.status, written.status]).toEqual(page.status === 303 ? [200, 200] : [page.status, page.status]);
        return page.status;
      }),
    );
  expect(await states()).toEqual([303, 303, 303, 303]);
  await owner.call('DELETE', `/v1/review-links/${made.ended.id}`);
  expect(await states()).toEqual([410, 303, 303, 303]);
  fixture.skip(60_001);
  expect(await states()).toEqual([410, 410, 303, 303]);
  const removed = await owner.call('DELETE', `/v1/sites/${owner.site.id}/collaborators/${helper.accountId}`);
  expect(removed.body.ended.review_links).toBe(1);
  expect(await states()).toEqual([410, 410, 410, 303]);
  await owner.call('POST', `/v1/sites/${owner.site.id}/archive`);
  expect(await states()).toEqual([409, 409, 410, 409]);
  await owner.call('POST', `/v1/sites/${owner.site.id}/unarchive`);
  expect(await states()).toEqual([410, 410, 410, 410]);
});

test('a link opens nothing while the site is blocked', async () => {
  const owner = await fixture.newSite();
  const secret = secretOf((await owner.review()).body);
  await blockSite(fixture.deps.em(), fixture.clock, owner.site.id, 'It was reported for phishing.');
  expect((await fixture.open(secret)).status).toBe(409);
  expect(errorOf(await fixture.asFrame(secret).comment({})).code).toBe('site_archived');
  await unblockSite(fixture.deps.em(), fixture.deps.clock, owner.site.id);
  expect((await fixture.open(secret)).status).toBe(303);
});
