import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { Token } from '#db/auth/token.ts';
import { callWith, createFixture, errorOf } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const inAnHour = () => new Date(fixture.clock.now().getTime() + 3_600_000).toISOString();
const create = (body: Record<string, unknown>) => owner.call('POST', '/v1/tokens', { body });
const works = async (token: string) => (await callWith(fixture.url, token)('GET', '/v1/account')).status === 200;

test.each([
  ['no header', undefined],
  ['an empty header', ''],
  ['another scheme', `Basic ${owner.token}`],
  ['the token alone', owner.token],
  ['an unknown token', `Bearer fro_${'x'.repeat(43)}`],
  ['a cut token', `Bearer ${owner.token.slice(0, -1)}`],
  ['a longer token', `Bearer ${owner.token}x`],
  ['two tokens', `Bearer ${owner.token}, Bearer ${owner.token}`],
  ['quotes and SQL', `Bearer fro_' or ''='`],
])('a call with %s is unauthorized', async (_what, authorization) => {
  const answer = await callWith(fixture.url)('GET', '/v1/account', authorization ? { headers: { authorization } } : {});
  expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized']);
  expect(answer.headers.get('www-authenticate')).toBe('Bearer');
});

test('an unknown token is refused before anything else is validated', async () => {
  const answer = await callWith(fixture.url)('POST', '/v1/sites?x=1', {
    raw: '{',
    headers: { 'idempotency-key': ' ' },
  });
  expect(errorOf(answer).code).toBe('unauthorized');
});

test('a token is shown once, works, and is stored as a hash', async () => {
  const { body } = await create({ name: ' laptop ', expires_at: inAnHour() });
  expect(body).toMatchObject({ name: 'laptop', last_four: body.access_token.slice(-4), current: false });
  expect(await works(body.access_token)).toBe(true);
  const listed = await owner.call('GET', '/v1/tokens');
  expect(listed.text).not.toContain(body.access_token);
  expect(listed.body.items.map(({ name }: { name: string }) => name)).toEqual(['laptop', 'first']);
  const rows = await fixture.deps.em().execute(`select encode(hash, 'escape') || name as kept from token`);
  expect(JSON.stringify(rows)).not.toContain(body.access_token);
});

test('an expiry must be in the future', async () => {
  for (const expires_at of [
    fixture.clock.now().toISOString(),
    '2001-01-01T00:00:00Z',
    '2099-13-01T00:00:00Z',
    5,
    null,
  ]) {
    const answer = await create({ name: 'a', expires_at });
    expect([expires_at, answer.status, errorOf(answer).code]).toEqual([expires_at, 400, 'invalid_expiry']);
  }
});

test('a token expires at its exact time', async () => {
  const { body } = await create({ name: 'short', expires_at: inAnHour() });
  fixture.skip(3_590_000);
  expect(await works(body.access_token)).toBe(true);
  fixture.skip(10_001);
  expect(await works(body.access_token)).toBe(false);
});

test('the last use is listed, and written at most once a minute', async () => {
  const { body } = await create({ name: 'used' });
  expect(body.last_used_at).toBe(null);
  const call = callWith(fixture.url, body.access_token);
  const lastUse = async () =>
    (await fixture.deps.em().findOneOrFail(Token, { id: body.id })).lastUsedAt?.getTime() ?? 0;
  await call('GET', '/v1/account');
  const first = await lastUse();
  fixture.skip(50_000);
  await call('GET', '/v1/account');
  expect(await lastUse()).toBe(first);
  fixture.skip(10_001);
  await call('GET', '/v1/account');
  expect((await lastUse()) - first).toBeGreaterThanOrEqual(60_000);
  const { body: list } = await owner.call('GET', '/v1/tokens');
  const listed = list.items.find(({ id }: { id: string }) => id === body.id);
  expect(Date.parse(listed.last_used_at)).toBe(await lastUse());
});

test('a token is renamed, and revoked at once by another token of the account', async () => {
  const { body } = await create({ name: 'old' });
  const path = `/v1/tokens/${body.id}`;
  expect((await owner.call('PATCH', path, { body: { name: 'new' } })).body).toMatchObject({ id: body.id, name: 'new' });
  const { body: revoked } = await owner.call('DELETE', path);
  expect(revoked).toMatchObject({ id: body.id, name: 'new', revoked_at: expect.any(String) });
  expect(await works(body.access_token)).toBe(false);
  fixture.skip(60_000);
  expect((await owner.call('DELETE', path)).body).toEqual(revoked);
  expect(errorOf(await owner.call('PATCH', path, { body: { name: 'x' } })).code).toBe('not_found');
  expect((await owner.call('GET', '/v1/tokens')).text).not.toContain(body.id);
});

test('a token cannot revoke itself', async () => {
  const { body } = await owner.call('GET', '/v1/tokens');
  const current = body.items.find((token: { current: boolean }) => token.current);
  const answer = await owner.call('DELETE', `/v1/tokens/${current.id}`);
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'current_token']);
  expect(await works(owner.token)).toBe(true);
});

test("another account's token is not found", async () => {
  const stranger = await fixture.newCaller();
  const { body } = await create({ name: 'mine' });
  for (const method of ['PATCH', 'DELETE']) {
    const answer = await stranger.call(
      method,
      `/v1/tokens/${body.id}`,
      method === 'PATCH' ? { body: { name: 'x' } } : {},
    );
    expect([answer.status, errorOf(answer).code]).toEqual([404, 'not_found']);
  }
  expect(await works(body.access_token)).toBe(true);
});

test('the cap on tokens holds under concurrent calls, and ignores revoked and expired ones', async () => {
  const many = await fixture.newCaller();
  const em = fixture.deps.em();
  for (let n = 1; n < 97; n++) await issueToken(em, fixture.clock, many.accountId, { name: `token ${n}` });
  const expiresAt = new Date(fixture.clock.now().getTime() + 1000);
  await issueToken(em, fixture.clock, many.accountId, { name: 'soon over', expiresAt });
  fixture.skip(2000);
  const answers = await Promise.all(
    Array.from({ length: 8 }, () => many.call('POST', '/v1/tokens', { body: { name: 'one more' } })),
  );
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map((answer) => [answer.status, errorOf(answer).code])).toEqual(Array(5).fill([402, 'plan_limit']));
  const made = answers.find(({ status }) => status === 200);
  await many.call('DELETE', `/v1/tokens/${made?.body.id}`);
  expect((await many.call('POST', '/v1/tokens', { body: { name: 'again' } })).status).toBe(200);
});
