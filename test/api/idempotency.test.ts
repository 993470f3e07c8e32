import { afterAll, expect, test, vi } from 'vitest';
import { begin, free, keep, renew } from '../../api/idempotency.ts';
import { openRepetitions, waitersMax } from '../../api/repetitions.ts';
import { createSite as createSiteRule } from '../../api/sites/rules.ts';
import { issueToken } from '../../api/tokens/rules.ts';
import { IdempotencyKey } from '../../db/entities/idempotency-key.ts';
import { Site } from '../../db/entities/site.ts';
import { Token } from '../../db/entities/token.ts';
import { until } from '../stack/until.ts';
import { type Caller, callWith, createWorld, errorOf, freeName } from './world.ts';

const world = await createWorld();
const second = await world.start();
afterAll(() => world.close());
const owner = await world.newCaller();

const keyed = (caller: Caller, key: string, body: unknown, path = '/v1/sites') =>
  caller.call('POST', path, { body, headers: { 'idempotency-key': key } });

test('fifty calls at once with one key, over two processes, make one site and answer it fifty times', async () => {
  const other = { ...owner, call: callWith(second.url, owner.token) };
  const body = { name: freeName(), title: 'Once' };
  const answers = await Promise.all(
    Array.from({ length: 50 }, (_, index) => keyed(index % 2 ? owner : other, 'fifty', body)),
  );
  expect(answers.map(({ status }) => status)).toEqual(Array(50).fill(200));
  expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  expect(await world.deps.em().count(Site, { name: body.name })).toBe(1);
});

test('fifty calls at once for a token all answer the same working secret, which is not in the database', async () => {
  const answers = await Promise.all(
    Array.from({ length: 50 }, () => keyed(owner, 'secret', { name: 'ci' }, '/v1/tokens')),
  );
  const [secret, ...more] = new Set(answers.map(({ body }) => body.access_token as string));
  expect(more).toEqual([]);
  expect((await callWith(world.url, secret)('GET', '/v1/account')).status).toBe(200);
  expect(await world.deps.em().count(Token, { name: 'ci' })).toBe(1);
  const kept = JSON.stringify(await world.deps.em().execute('select * from idempotency_key'));
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

test('an error leaves the key free', async () => {
  const name = freeName();
  const refused = await keyed(owner, 'free', { name, title: 'A', template: 'none-such' });
  expect(errorOf(refused).code).toBe('invalid_template');
  expect((await keyed(owner, 'free', { name, title: 'A' })).status).toBe(200);
});

test('the same key of another account, and on another path, is another key', async () => {
  const stranger = await world.newCaller();
  const [mine, theirs] = await Promise.all(
    [owner, stranger].map((caller) => keyed(caller, 'shared', { name: freeName(), title: 'A' })),
  );
  expect(theirs?.body.id).not.toBe(mine?.body.id);
  expect((await keyed(owner, 'shared', { name: 'a token' }, '/v1/tokens')).status).toBe(200);
});

test('what is shown once is not shown to another token of the account', async () => {
  const { secret } = await issueToken(world.deps.em(), world.clock, owner.accountId, { name: 'other' });
  expect((await keyed(owner, 'mine', { name: 'x' }, '/v1/tokens')).status).toBe(200);
  const answer = await keyed({ ...owner, call: callWith(world.url, secret) }, 'mine', { name: 'x' }, '/v1/tokens');
  expect([answer.status, errorOf(answer).code]).toEqual([409, 'idempotency_mismatch']);
  expect(answer.text).not.toContain('fro_');
});

test('a key takes 1 to 255 visible characters', async () => {
  for (const key of ['a b', 'x'.repeat(256), 'é']) {
    const answer = await keyed(owner, key, { name: freeName(), title: 'A' });
    expect([key.length, errorOf(answer).code]).toEqual([key.length, 'invalid_input']);
  }
});

type SiteBody = { name: string; title: string };

/** Takes the call, as a process does before it runs it. */
async function beginCall(key: string, body: SiteBody) {
  const whole = { ...body, template: 'blank' };
  const call = { accountId: owner.accountId, method: 'POST', path: '/v1/sites', key, body: whole, bearer: owner.token };
  const alone = { repetitions: openRepetitions(), stop: new AbortController().signal };
  return await begin(world.deps, call, { showsSecret: false, ...alone });
}

/** Writes down what a process does that takes the call and dies before it answers. */
async function takeCall(key: string, body: SiteBody) {
  const attempt = await beginCall(key, body);
  return { id: `site_${attempt.reservedId}`, ...body, template: 'blank' };
}

/** The next write that an entity manager of the process is asked for is done, and its answer lost. */
function loseNextAnswer(method: 'transactional' | 'flush', after = 0) {
  const { em } = world.deps;
  let left = after + 1;
  const spy = vi.spyOn(world.deps, 'em').mockImplementation(() => {
    const fork = em();
    const real = fork[method].bind(fork) as (...given: unknown[]) => Promise<unknown>;
    const losing = async (...given: unknown[]) => {
      const answer = await real(...given);
      if (--left === 0) throw new Error('terminating connection due to administrator command');
      return answer;
    };
    return Object.assign(fork, { [method]: losing });
  });
  return () => spy.mockRestore();
}

test('a call whose transaction was committed and whose answer was lost made what its repetition answers', async () => {
  const [body, token] = [{ name: freeName(), title: 'A' }, { name: 'once, though lost' }];
  // A site's room is asked about in a transaction of its own.
  const restore = loseNextAnswer('transactional', 1);
  const lost = await keyed(owner, 'lost', body);
  restore();
  expect([lost.status, errorOf(lost).retryable]).toEqual([500, true]);
  const [made] = await world.deps.em().find(Site, { name: body.name });
  const again = await keyed(owner, 'lost', body);
  expect([again.status, again.body.id]).toEqual([200, made?.id]);

  const restoreToken = loseNextAnswer('transactional');
  expect((await keyed(owner, 'lost', token, '/v1/tokens')).status).toBe(500);
  restoreToken();
  const { status, body: issued } = await keyed(owner, 'lost', token, '/v1/tokens');
  expect(status).toBe(200);
  expect(await world.deps.em().count(Token, token)).toBe(1);
  expect((await callWith(world.url, issued.access_token)('GET', '/v1/account')).status).toBe(200);
});

test('a call that failed before it made anything is run again at once, and leaves its key free for another body', async () => {
  const { prototype } = world.deps.orm.em.constructor;
  const [first, other] = [freeName(), freeName()].map((name) => ({ name, title: 'A' }));
  for (const then of [other, first]) {
    const failing = vi.spyOn(prototype, 'transactional').mockRejectedValueOnce(new Error('no connection'));
    expect((await keyed(owner, `failed-${then?.name}`, first)).status).toBe(500);
    failing.mockRestore();
    const answer = await keyed(owner, `failed-${then?.name}`, then);
    expect([answer.status, answer.body.name]).toEqual([200, then?.name]);
  }
});

test('who was taken for dead and goes on neither frees nor keeps nor renews the key of who took over', async () => {
  const body = { name: freeName(), title: 'A' };
  const stalled = await beginCall('fenced', body);
  world.skip(13_000);
  const next = await beginCall('fenced', body);
  expect(next).toMatchObject({ state: 'resumed', reservedId: stalled.reservedId });
  const row = () => world.deps.em().findOneOrFail(IdempotencyKey, { reservedId: next.reservedId });
  const before = await row();
  world.skip(1_000);
  await renew(world.deps, stalled);
  await keep(world.deps, stalled, 'site_of_the_stalled');
  await free(world.deps, stalled);
  expect(await row()).toMatchObject({ resourceId: null, expiresAt: before.expiresAt });
  await keep(world.deps, next, 'site_of_the_next');
  expect((await row()).resourceId).toBe('site_of_the_next');
});

/** Takes the call, and is at it for as long as the test lasts. */
async function beginLongCall(key: string, body: SiteBody) {
  const { reservedId } = await beginCall(key, body);
  const expiresAt = new Date(world.clock.now().getTime() + 3_600_000);
  await world.deps.em().nativeUpdate(IdempotencyKey, { reservedId }, { expiresAt });
}

/** Statements about keys that the process asks of the database, from now on. */
function countStatements() {
  let asked = 0;
  const { em } = world.deps;
  const spy = vi.spyOn(world.deps, 'em').mockImplementation(() => {
    asked += 1;
    return em();
  });
  return { asked: () => asked, end: () => spy.mockRestore() };
}

test('two hundred repetitions of a call that runs ask little, and are all told to come again when the process ends', async () => {
  const third = await world.start();
  const body = { name: freeName(), title: 'A' };
  await beginLongCall('crowd', body);
  const call = callWith(third.url, owner.token);
  let asked = 0;
  const { em } = third.deps;
  third.deps.em = () => {
    asked += 1;
    return em();
  };
  const headers = { 'idempotency-key': 'crowd' };
  const answers: string[] = [];
  const crowd = Array.from({ length: 200 }, async () => {
    const answer = await call('POST', '/v1/sites', { body, headers });
    answers.push(`${answer.status} ${errorOf(answer).code} ${answer.headers.get('retry-after') !== null}`);
  });
  await until(
    () => answers.length,
    (many) => many === 200 - waitersMax,
  );
  const afterArrival = asked;
  // What it asks while they wait: each of the waiters would ask more than this.
  await until(
    () => asked,
    (now) => now >= afterArrival + 3,
  );
  expect(asked - afterArrival).toBeLessThan(waitersMax);
  expect(afterArrival).toBeLessThan(1_000);
  third.deps.leaving.abort();
  await Promise.all(crowd);
  expect(new Set(answers)).toEqual(new Set(['429 rate_limited true']));
});

test('nobody waits any more for whom the caller has hung up', async () => {
  const body = { name: freeName(), title: 'A' };
  await beginLongCall('hung-up', body);
  const hangUp = new AbortController();
  const statements = countStatements();
  const url = new URL('/v1/sites', world.url);
  const headers = {
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
    'idempotency-key': 'hung-up',
  };
  const call = fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: hangUp.signal });
  await until(statements.asked, (asked) => asked > 4);
  hangUp.abort();
  await expect(call).rejects.toThrow();
  const quiet = async () => {
    const before = statements.asked();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    return statements.asked() - before;
  };
  await until(quiet, (asked) => asked === 0);
  statements.end();
});

test('a call whose process died before it made anything is run by the next one', async () => {
  const body = { name: freeName(), title: 'A' };
  const { id } = await takeCall('died-early', body);
  world.skip(13_000);
  const answer = await keyed(owner, 'died-early', body);
  expect([answer.status, answer.body.id]).toEqual([200, id]);
});

test('a call whose process died after it had made its resource is answered with that one', async () => {
  const body = { name: freeName(), title: 'A' };
  const made = await takeCall('died-late', body);
  await createSiteRule(world.deps.em(), world.deps, { accountId: owner.accountId, tokenId: '' }, made);
  const waiting = keyed(owner, 'died-late', body);
  world.skip(13_000);
  const { status, body: site } = await waiting;
  expect([status, site.id]).toEqual([200, made.id]);
});

test('a repetition waits for the call that runs', async () => {
  const body = { name: freeName(), title: 'A' };
  const made = await takeCall('running', body);
  let answered = false;
  const waiting = keyed(owner, 'running', body).then((answer) => {
    answered = true;
    return answer;
  });
  await createSiteRule(world.deps.em(), world.deps, { accountId: owner.accountId, tokenId: '' }, made);
  expect(answered).toBe(false);
  await world.deps
    .em()
    .nativeUpdate(IdempotencyKey, { reservedId: made.id.slice('site_'.length) }, { resourceId: made.id });
  expect((await waiting).body.id).toBe(made.id);
});

test('a key is forgotten after 24 hours', async () => {
  const first = await keyed(owner, 'day', { name: freeName(), title: 'A' });
  world.skip(24 * 3_600_000 - 60_000);
  expect(errorOf(await keyed(owner, 'day', { name: freeName(), title: 'B' })).code).toBe('idempotency_mismatch');
  world.skip(61_000);
  const later = await keyed(owner, 'day', { name: freeName(), title: 'B' });
  expect(later.status).toBe(200);
  expect(later.body.id).not.toBe(first.body.id);
});
