/** Calls with an `Idempotency-Key` that failed, whose response was lost, or that are still running. */
import { afterAll, expect, test, vi } from 'vitest';
import { free, keep, renew } from '#api/idempotency.ts';
import { waitersMax } from '#api/replay-waiters.ts';
import { Token } from '#db/auth/token.ts';
import { IdempotencyKey } from '#db/idempotency-key.ts';
import { Site } from '#db/sites/site.ts';
import { createFixture } from '#test/output/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { until } from '#test/stack/until.ts';
import { beginCall, type SiteBody } from './begun-calls.ts';
import { callWith, createSite, errorOf, freeName } from './fixture.ts';

const fixture = await createFixture();
afterAll(async () => {
  // As a process does that ends: callers who hung up keep connections over which they never ask.
  const closing = setInterval(() => fixture.app.server.closeAllConnections(), 100);
  await fixture.close();
  clearInterval(closing);
});
const owner = await fixture.newCaller();

const keyed = (key: string, body: unknown, path = '/v1/sites') =>
  owner.call('POST', path, { body, headers: { 'idempotency-key': key } });

test('a repetition returns the resource of a committed call whose response was lost', async () => {
  const [body, token] = [{ name: freeName(), title: 'A' }, { name: 'once, though lost' }];
  // A site's room is asked about in a transaction of its own.
  const restore = loseNextAnswer(fixture, 'transactional', 1);
  const lost = await keyed('lost', body);
  restore();
  expect([lost.status, errorOf(lost).retryable]).toEqual([500, true]);
  const [made] = await fixture.deps.em().find(Site, { name: body.name });
  const again = await keyed('lost', body);
  expect([again.status, again.body.id]).toEqual([200, made?.id]);

  const restoreToken = loseNextAnswer(fixture, 'transactional');
  expect((await keyed('lost', token, '/v1/tokens')).status).toBe(500);
  restoreToken();
  const { status, body: issued } = await keyed('lost', token, '/v1/tokens');
  expect(status).toBe(200);
  expect(await fixture.deps.em().count(Token, token)).toBe(1);
  expect((await callWith(fixture.url, issued.access_token)('GET', '/v1/account')).status).toBe(200);
  expect(fixture.takeUnexpected()).toHaveLength(2);
});

/** Makes a call whose answer is lost, after so many other transactions of it. Returns how to send it again. */
async function lose(path: string, after = 0) {
  const send = () => owner.call('POST', path, { headers: { 'idempotency-key': path } });
  const restore = loseNextAnswer(fixture, 'transactional', after);
  expect((await send()).status).toBe(500);
  restore();
  expect(fixture.takeUnexpected()).toHaveLength(1);
  return send;
}

test('what was removed since a call was lost is not made again', async () => {
  const { id } = await createSite(owner);
  const made = [
    ['/v1/tokens', { name: 'Gone' }, '/v1/tokens'],
    [`/v1/sites/${id}/git-credentials`, { repository: 'source', access: 'read' }, '/v1/git-credentials'],
  ] as const;
  for (const [path, body, removals] of made) {
    const restore = loseNextAnswer(fixture, 'transactional');
    expect((await keyed('removed', body, path)).status).toBe(500);
    restore();
    const listed = async (): Promise<string[]> =>
      (await owner.call('GET', path)).body.items.map((one: { id: string }) => one.id);
    const [newest, ...others] = await listed();
    expect((await owner.call('DELETE', `${removals}/${newest}`)).status).toBe(200);
    for (let times = 0; times < 2; times++) expect(errorOf(await keyed('removed', body, path)).code).toBe('not_found');
    expect(await listed()).toEqual(others);
  }
  expect(fixture.takeUnexpected()).toHaveLength(2);
});

test('a repeated restore leaves a later version live', async () => {
  const { id } = await createSite(owner);
  const publish = (text: string) => fixture.publish(id, owner.accountId, { 'index.html': text });
  const live = async () => (await owner.call('GET', `/v1/sites/${id}`)).body.live_deployment_id;
  const first = await publish('1');
  await publish('2');
  const again = await lose(`/v1/deployments/${first}/restore`, 1);
  expect(await live()).toBe(first);
  const third = await publish('3');
  for (let times = 0; times < 2; times++) {
    const { status, body } = await again();
    expect([status, body.id, body.status]).toEqual([200, first, 'retired']);
    expect(await live()).toBe(third);
  }
});

test('a repeated change of a site’s status undoes no later one', async () => {
  const { id } = await createSite(owner);
  const call = async (method: string, what: string) => (await owner.call(method, `/v1/sites/${id}${what}`)).body.status;
  const archive = await lose(`/v1/sites/${id}/archive`);
  expect(await call('POST', '/unarchive')).toBe('active');
  expect((await archive()).body.status).toBe('active');
  expect(await call('POST', '/archive')).toBe('archived');
  const unarchive = await lose(`/v1/sites/${id}/unarchive`);
  expect(await call('POST', '/archive')).toBe('archived');
  expect((await unarchive()).body.status).toBe('archived');
  expect(await call('DELETE', '?confirm=true')).toBe('deleting');
  const restore = await lose(`/v1/sites/${id}/restore-site`);
  expect(await call('DELETE', '?confirm=true')).toBe('deleting');
  expect((await restore()).body.status).toBe('deleting');
});

test('a call that failed before creating anything runs again, and releases its key', async () => {
  const { prototype } = fixture.deps.orm.em.constructor;
  const [first, other] = [freeName(), freeName()].map((name) => ({ name, title: 'A' }));
  for (const then of [other, first]) {
    const failing = vi.spyOn(prototype, 'transactional').mockRejectedValueOnce(new Error('no connection'));
    expect((await keyed(`failed-${then?.name}`, first)).status).toBe(500);
    failing.mockRestore();
    const answer = await keyed(`failed-${then?.name}`, then);
    expect([answer.status, answer.body.name]).toEqual([200, then?.name]);
  }
  expect(fixture.takeUnexpected()).toHaveLength(2);
});

test('a process wrongly presumed dead neither frees, keeps nor renews its successor’s key', async () => {
  const body = { name: freeName(), title: 'A' };
  const stalled = await beginCall(fixture, owner, 'fenced', body);
  fixture.skip(13_000);
  const next = await beginCall(fixture, owner, 'fenced', body);
  expect(next).toMatchObject({ state: 'resumed', reservedId: stalled.reservedId });
  const row = () => fixture.deps.em().findOneOrFail(IdempotencyKey, { reservedId: next.reservedId });
  const before = await row();
  fixture.skip(1_000);
  await renew(fixture.deps, stalled);
  await keep(fixture.deps, stalled, 'site_of_the_stalled');
  await free(fixture.deps, stalled);
  expect(await row()).toMatchObject({ resourceId: null, expiresAt: before.expiresAt });
  await keep(fixture.deps, next, 'site_of_the_next');
  expect((await row()).resourceId).toBe('site_of_the_next');
});

/** Takes the call, and is at it for as long as the test lasts. */
async function beginLongCall(key: string, body: SiteBody) {
  const { reservedId } = await beginCall(fixture, owner, key, body);
  const expiresAt = new Date(fixture.clock.now().getTime() + 3_600_000);
  await fixture.deps.em().nativeUpdate(IdempotencyKey, { reservedId }, { expiresAt });
}

/** Statements about keys that the process asks of the database, from now on. */
function countStatements() {
  let asked = 0;
  const { em } = fixture.deps;
  const spy = vi.spyOn(fixture.deps, 'em').mockImplementation(() => {
    asked += 1;
    return em();
  });
  return { asked: () => asked, end: () => spy.mockRestore() };
}

test('two hundred waiting repetitions query little, and are all answered on shutdown', async () => {
  const third = await fixture.start();
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
  third.deps.shutdown.abort();
  await Promise.all(crowd);
  expect(new Set(answers)).toEqual(new Set(['429 rate_limited true']));
});

test('a repetition stops waiting when its client disconnects', async () => {
  const body = { name: freeName(), title: 'A' };
  await beginLongCall('hung-up', body);
  const hangUp = new AbortController();
  const statements = countStatements();
  const url = new URL('/v1/sites', fixture.url);
  const headers = {
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
    'idempotency-key': 'hung-up',
  };
  const call = fetch(url, { method: 'POST', headers, body: JSON.stringify(body), signal: hangUp.signal });
  await until(statements.asked, (asked) => asked > 4);
  hangUp.abort();
  await expect(call).rejects.toMatchObject({ name: 'AbortError' });
  const quiet = async () => {
    const before = statements.asked();
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    return statements.asked() - before;
  };
  await until(quiet, (asked) => asked === 0);
  statements.end();
});
