import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { type CommentFixture, createCommentFixture } from './fixture.ts';

let fixture: CommentFixture;
beforeAll(async () => {
  fixture = await createCommentFixture();
});
afterAll(() => fixture?.close());

const day = 86_400_000;

test('a link is created, shown once, listed without its address, and revoked', async () => {
  const owner = await fixture.newOwner();
  const { status, body } = await owner.review();
  expect(status).toBe(200);
  expect(body).toMatchObject({ site_id: owner.site.id, slot: null, status: 'open', ended_at: null });
  expect(body.url).toMatch(new RegExp(`^${fixture.config.baseUrl}/review/frr_[\\w-]{43}$`));
  const { url, ...shown } = body;
  const list = await owner.call('GET', `/v1/sites/${owner.site.id}/review-links`);
  expect(list.body.items).toEqual([shown]);
  const ended = await owner.call('DELETE', `/v1/review-links/${body.id}`);
  expect(ended.body).toMatchObject({ id: body.id, status: 'ended', ended_at: expect.any(String) });
  expect((await owner.call('DELETE', `/v1/review-links/${body.id}`)).body).toEqual(ended.body);
});

test('a link’s secret is stored as a hash and is in no log', async () => {
  const owner = await fixture.newOwner();
  const { body } = await owner.review();
  const secret = body.url.split('/').at(-1);
  await fetch(`${fixture.url}/review/${secret}`, { redirect: 'manual' });
  const rows = await fixture.deps
    .em()
    .execute('select review_link::text as row from review_link where id = ?', [body.id]);
  expect(rows[0]?.row).not.toContain(secret);
  expect(JSON.stringify(fixture.logged)).not.toContain(secret);
});

test('a repeated call under one key returns the same address', async () => {
  const owner = await fixture.newOwner();
  const ask = () =>
    owner.call('POST', `/v1/sites/${owner.site.id}/review-links`, { body: {}, headers: { 'idempotency-key': 'k' } });
  const [first, second] = [await ask(), await ask()];
  expect(second.body).toEqual(first.body);
});

test('a link lasts a week by default, and from a minute to thirty days', async () => {
  const owner = await fixture.newOwner();
  const { body } = await owner.review();
  expect(Date.parse(body.expires_at) - Date.parse(body.created_at)).toBe(7 * day);
  for (const expires_in_seconds of [59, 30 * 86_400 + 1, 1.5, 'soon', null]) {
    expect(errorOf(await owner.review({ expires_in_seconds })).code).toBe('invalid_expiry');
  }
});

test('an archived site gets no link', async () => {
  const owner = await fixture.newOwner();
  await owner.call('POST', `/v1/sites/${owner.site.id}/archive`);
  expect(errorOf(await owner.review()).code).toBe('site_archived');
});
