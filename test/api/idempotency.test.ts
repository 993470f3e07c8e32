import { afterAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { createSite as createSiteRule } from '#api/sites/rules.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { Token } from '#db/auth/token.ts';
import { IdempotencyKey } from '#db/idempotency-key.ts';
import { Site } from '#db/sites/site.ts';
import type { Repositories } from '#providers/repositories.ts';
import { newId } from '#runtime/ids.ts';
import { beginCall, type SiteBody } from './begun-calls.ts';
import { type Caller, callWith, createFixture, errorOf, freeName } from './fixture.ts';

const fixture = await createFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

const keyed = (caller: Caller, key: string, body: unknown, path = '/v1/sites') =>
  caller.call('POST', path, { body, headers: { 'idempotency-key': key } });

test('fifty concurrent calls with one key over two processes create one site', async () => {
  const other = { ...owner, call: callWith(second.url, owner.token) };
  const body = { name: freeName(), title: 'Once' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => keyed(index % 2 ? owner : other, 'fifty', body)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  expect(await fixture.deps.em().count(Site, { name: body.name })).toBe(1);
});

test('fifty concurrent calls for a token return one secret, which is not stored', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => keyed(owner, 'secret', { name: 'ci' }, '/v1/tokens')),
  );
  const [secret, ...more] = new Set(answers.map(({ body }) => body.access_token as string));
  expect(more).toEqual([]);
  expect((await callWith(fixture.url, secret)('GET', '/v1/account')).status).toBe(200);
  expect(await fixture.deps.em().count(Token, { name: 'ci' })).toBe(1);
  const kept = JSON.stringify(await fixture.deps.em().execute('select * from idempotency_key'));
  const bytes = Buffer.from((secret ?? '').slice('fro_'.length), 'base64url');
  expect(bytes.length).toBe(32);
  expect(kept).not.toContain(secret);
  expect(kept).not.toContain(bytes.toString('hex'));
  expect(kept).not.toContain(JSON.stringify([...bytes]).slice(1, -1));
});

test('another body under the same key is idempotency_mismatch', async () => {
  const body = { name: freeName(), title: 'First' };
  expect((await keyed(owner, 'mismatch', body)).status).toBe(200);
  const answer = await keyed(owner, 'mismatch', { ...body, title: 'Second' });
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'idempotency_mismatch']);
});

test('the same fields in another order are the same body', async () => {
  const name = freeName();
  const first = await keyed(owner, 'order', { name, title: 'A' });
  const again = await keyed(owner, 'order', { title: 'A', name });
  expect(again.body.id).toBe(first.body.id);
});

test('a replay renders the resource as it is now', async () => {
  const body = { name: freeName(), title: 'Before' };
  const { id } = (await keyed(owner, 'replay', body)).body;
  await owner.call('PATCH', `/v1/sites/${id}`, { body: { title: 'After' } });
  const again = await keyed(owner, 'replay', body);
  expect([again.body.id, again.body.title]).toEqual([id, 'After']);
});

test('an error releases the key', async () => {
  const name = freeName();
  const refused = await keyed(owner, 'free', { name, title: 'A', template: 'none-such' });
  expect(errorOf(refused).code).toBe('invalid_template');
  expect((await keyed(owner, 'free', { name, title: 'A' })).status).toBe(200);
});

test('the same key from another account or on another path is another key', async () => {
  const stranger = await fixture.newCaller();
  const [mine, theirs] = await Promise.all(
    [owner, stranger].map((caller) => keyed(caller, 'shared', { name: freeName(), title: 'A' })),
  );
  expect(theirs?.body.id).not.toBe(mine?.body.id);
  expect((await keyed(owner, 'shared', { name: 'a token' }, '/v1/tokens')).status).toBe(200);
});

test('a secret shown once is not shown to another token of the account', async () => {
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name: 'other' });
  expect((await keyed(owner, 'mine', { name: 'x' }, '/v1/tokens')).status).toBe(200);
  const answer = await keyed({ ...owner, call: callWith(fixture.url, secret) }, 'mine', { name: 'x' }, '/v1/tokens');
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'idempotency_mismatch']);
  expect(answer.text).not.toContain('fro_');
});

test('a key has 1 to 255 visible characters', async () => {
  for (const key of ['a b', 'x'.repeat(256), 'é']) {
    const answer = await keyed(owner, key, { name: freeName(), title: 'A' });
    expect([key.length, errorOf(answer).code]).toEqual([key.length, 'invalid_input']);
  }
});

/** Writes down what a process does that takes the call and dies before it answers. */
async function takeCall(key: string, body: SiteBody) {
  const attempt = await beginCall(fixture, owner, key, body);
  return { id: `site_${attempt.reservedId}`, ...body, template: 'blank' };
}

test('after a process died before creating anything, the next call runs', async () => {
  const body = { name: freeName(), title: 'A' };
  const { id } = await takeCall('died-early', body);
  fixture.skip(13_000);
  const answer = await keyed(owner, 'died-early', body);
  expect([answer.status, answer.body.id]).toEqual([200, id]);
});

test('after a process died having created the resource, the next call returns it', async () => {
  const body = { name: freeName(), title: 'A' };
  const made = await takeCall('died-late', body);
  await createSiteRule(fixture.deps.em(), fixture.deps, actorOf(owner.accountId, ''), made);
  const waiting = keyed(owner, 'died-late', body);
  fixture.skip(13_000);
  const { status, body: site } = await waiting;
  expect([status, site.id]).toEqual([200, made.id]);
});

test('the source of a site names it also where its creation was resumed', async () => {
  const repositories = fixture.deps.repositories as Repositories;
  const written: string[] = [];
  const createAndDie: Repositories['create'] = async (siteId, initial, ...others) => {
    await repositories.create(siteId, initial, ...others);
    written.push(String(initial?.source.get('src/site.json')));
    throw new Error('as if the process were killed');
  };
  const dying = { ...fixture.deps, repositories: { ...repositories, create: createAndDie } };
  const input = { id: newId('site'), name: freeName(), title: 'A', template: 'business' };
  const create = (deps: typeof fixture.deps) =>
    createSiteRule(fixture.deps.em(), deps, actorOf(owner.accountId, ''), input);
  await expect(create(dying)).rejects.toThrow('as if the process');
  const { publicId } = await create(fixture.deps);
  expect(written).toEqual([expect.stringContaining(`"${publicId}"`)]);
});

test('a repetition waits for the running call', async () => {
  const body = { name: freeName(), title: 'A' };
  const made = await takeCall('running', body);
  let answered = false;
  const waiting = keyed(owner, 'running', body).then((answer) => {
    answered = true;
    return answer;
  });
  await createSiteRule(fixture.deps.em(), fixture.deps, actorOf(owner.accountId, ''), made);
  expect(answered).toBe(false);
  await fixture.deps
    .em()
    .nativeUpdate(IdempotencyKey, { reservedId: made.id.slice('site_'.length) }, { resourceId: made.id });
  expect((await waiting).body.id).toBe(made.id);
});

test('a key expires after 24 hours', async () => {
  const first = await keyed(owner, 'day', { name: freeName(), title: 'A' });
  fixture.skip(24 * 3_600_000 - 60_000);
  expect(errorOf(await keyed(owner, 'day', { name: freeName(), title: 'B' })).code).toBe('idempotency_mismatch');
  fixture.skip(61_000);
  const later = await keyed(owner, 'day', { name: freeName(), title: 'B' });
  expect(later.status).toBe(200);
  expect(later.body.id).not.toBe(first.body.id);
});
