/** A token gets a new secret and keeps what it made. */
import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { everything } from '#rules/scopes.ts';
import { type Caller, callWith, createFixture, createSite, errorOf } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

type Made = Caller & { id: string };
type Entry = { action: string; subject: { id: string } };

async function newToken(by: Caller, more: object = {}): Promise<Made> {
  const { body } = await by.call('POST', '/v1/tokens', { body: { name: 'agent', scope: everything, ...more } });
  return { id: body.id, accountId: by.accountId, token: body.access_token, call: withToken(body.access_token) };
}

const withToken = (token: string) => callWith(fixture.url, token);
const works = async (token: string) => (await withToken(token)('GET', '/v1/account')).status === 200;
const rotate = ({ call }: Caller, id: string, key?: string) =>
  call('POST', `/v1/tokens/${id}/rotate`, key ? { headers: { 'idempotency-key': key } } : {});

test('a rotated token keeps its row and what it made, with a new secret', async () => {
  const child = await newToken(owner, { expires_at: '2099-01-01T00:00:00Z' });
  const grandchild = await newToken(child);
  const { id: siteId } = await createSite(child);
  const git = { repository: 'source', access: 'read' };
  const { body: credential } = await child.call('POST', `/v1/sites/${siteId}/git-credentials`, { body: git });
  const before = (await owner.call('GET', '/v1/tokens')).body.items.find(({ id }: Made) => id === child.id);

  const { status, body } = await rotate(child, child.id);
  const { access_token: secret, ...shown } = body;
  expect(status).toBe(200);
  expect(shown).toEqual({ ...before, current: true, last_four: secret.slice(-4), last_used_at: expect.any(String) });
  expect([await works(child.token), await works(secret), await works(grandchild.token)]).toEqual([false, true, true]);
  expect(errorOf(await rotate(child, child.id)).code).toBe('unauthorized');
  const listed = await owner.call('GET', `/v1/sites/${siteId}/git-credentials`);
  expect(listed.body.items.map(({ id }: { id: string }) => id)).toEqual([credential.id]);

  expect((await owner.call('DELETE', `/v1/tokens/${child.id}`)).status).toBe(200);
  expect([await works(secret), await works(grandchild.token)]).toEqual([false, false]);
});

test('a rotation whose answer was lost is answered once more with the same secret', async () => {
  const child = await newToken(owner);
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await rotate(owner, child.id, 'lost')).status).toBe(500);
  restore();
  const again = await rotate(owner, child.id, 'lost');
  expect([again.status, await works(again.body.access_token), await works(child.token)]).toEqual([200, true, false]);
  const { items } = (await owner.call('GET', '/v1/account/history')).body;
  const rotated = items.filter(({ action, subject }: Entry) => action === 'token.rotated' && subject.id === child.id);
  expect(rotated).toHaveLength(1);
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('a token rotates itself and what was made with it, and no other token', async () => {
  const [child, sibling] = [await newToken(owner), await newToken(owner)];
  const grandchild = await newToken(child);
  for (const id of [owner, sibling].map(({ token }) => token.slice(-4))) {
    const { items } = (await owner.call('GET', '/v1/tokens')).body;
    const other = items.find(({ last_four }: { last_four: string }) => last_four === id);
    const refused = await rotate(child, other.id);
    expect([refused.status, errorOf(refused).code]).toEqual([403, 'token_not_yours']);
    expect(errorOf(refused).next_action).toContain(`/v1/tokens/${other.id}`);
  }
  const { body } = await rotate(owner, grandchild.id);
  expect([await works(grandchild.token), await works(body.access_token)]).toEqual([false, true]);
  expect(await works(sibling.token)).toBe(true);
});

test('a call that waits for its body makes nothing after its token was rotated', async () => {
  const child = await newToken(owner);
  const body = Buffer.from(JSON.stringify({ name: 'late', scope: everything }));
  const headers = { authorization: `Bearer ${child.token}`, 'content-type': 'application/json' };
  const late = request(`${fixture.url}/v1/tokens`, { method: 'POST', headers });
  late.write(body.subarray(0, 5));
  // The token was found good when its use was recorded.
  const used = async () => (await owner.call('GET', '/v1/tokens')).body.items.find(({ id }: Made) => id === child.id);
  await expect.poll(async () => (await used()).last_used_at).not.toBeNull();
  expect((await rotate(owner, child.id)).status).toBe(200);
  const answered = once(late, 'response');
  late.end(body.subarray(5));
  const [answer] = (await answered) as [IncomingMessage];
  expect([answer.statusCode, JSON.parse(await text(answer)).error.code]).toEqual([401, 'unauthorized']);
});

test('a revoked token is not rotated', async () => {
  const child = await newToken(owner);
  await owner.call('DELETE', `/v1/tokens/${child.id}`);
  expect(errorOf(await rotate(owner, child.id)).code).toBe('not_found');
  expect(errorOf(await rotate(owner, 'x')).code).toBe('not_found');
});

test('of concurrent calls that rotate the token in use, one succeeds', async () => {
  const child = await newToken(owner);
  const answers = await Promise.all(Array.from({ length: 8 }, () => rotate(child, child.id)));
  const won = answers.filter(({ status }) => status === 200);
  expect(won).toHaveLength(1);
  expect(await works(won[0]?.body.access_token)).toBe(true);
  for (const lost of answers.filter((one) => !won.includes(one))) expect(errorOf(lost).code).toBe('unauthorized');
});

test('a repeated call with one key shows the same secret, and changes nothing', async () => {
  const child = await newToken(owner);
  const first = await rotate(owner, child.id, 'rotation');
  expect((await rotate(owner, child.id, 'rotation')).body).toEqual(first.body);
  expect(await works(first.body.access_token)).toBe(true);
});

test('no secret of a rotation outlives the token that asked for it', async () => {
  const child = await newToken(owner);
  const grandchild = await newToken(child);
  const answers = Array.from({ length: 6 }, () => rotate(child, grandchild.id));
  const revoked = owner.call('DELETE', `/v1/tokens/${child.id}`);
  const made = (await Promise.all(answers)).filter(({ status }) => status === 200);
  expect((await revoked).status).toBe(200);
  for (const { body } of made) expect(await works(body.access_token)).toBe(false);
});

test('a rotated token still expires at its time', async () => {
  const expiresAt = new Date(fixture.clock.now().getTime() + 60_000);
  const { secret, token } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, {
    name: 'short',
    expiresAt,
  });
  const { body } = await rotate({ ...owner, call: withToken(secret) }, token.id);
  expect(await works(body.access_token)).toBe(true);
  fixture.skip(60_001);
  expect(await works(body.access_token)).toBe(false);
});
