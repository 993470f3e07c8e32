/** Calls that wait: how soon they hear, on any process, what they hold, and what ends them. */
import { get } from 'node:http';
import pg from 'pg';
import { afterAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { buildApp } from '#api/app.ts';
import { openWaiting, waitLimits } from '#api/inbox/waiters.ts';
import { createDeps } from '#runtime/deps.ts';
import { type Answer, type Caller, callWith, errorOf } from '#test/api/fixture.ts';
import { quickest } from '#test/stack/quickest.ts';
import { until } from '#test/stack/until.ts';
import { arrivalsOf, createInboxFixture, idsOf, startWaiting as startWaitingOf } from './fixture.ts';

const fixture = await createInboxFixture();
afterAll(() => fixture.close());
const { ask } = fixture;
const other = await fixture.start();

const arrivals = ({ accountId }: Caller) => arrivalsOf(fixture, accountId);

type Heard = { answer: Answer; at: number };

const startWaiting = (caller: Caller, options: { base?: string; query?: string } = {}) =>
  startWaitingOf(fixture, caller, options);

async function newOwner() {
  const owner = await fixture.newCaller();
  return { owner, site: await ask.newSite(owner) };
}

test('a long poll returns within a second of the first item, on any process', async () => {
  const hear = async () => {
    const { owner, site } = await newOwner();
    const guest = await fixture.newCaller();
    const waits = [
      await startWaiting(owner),
      await startWaiting(owner, { base: other.url }),
      await startWaiting(guest, { base: other.url }),
    ];
    const failed = await fixture.failedBuild(owner, site.id);
    const failedAt = performance.now();
    const invitation = (await ask.invite(owner, site.id, await ask.emailOf(guest))).body.id;
    const [here, there, invited] = (await Promise.all(waits.map(({ heard }) => heard))) as [Heard, Heard, Heard];
    expect([here, there, invited].map(({ answer }) => idsOf(answer))).toEqual([[failed], [failed], [invitation]]);
    return Math.max(here.at, there.at) - failedAt;
  };
  expect(await quickest(1_000, hear)).toBeLessThan(1_000);
});

test('without NOTIFY a process polls each second', async () => {
  const deps = createDeps(fixture.config, { name: 'deaf', clock: fixture.clock, log: fixture.deps.log });
  const app = await buildApp({ ...deps, notifications: { ...deps.notifications, on: () => () => {} } });
  const deaf = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    const hear = async () => {
      const { owner, site } = await newOwner();
      const { heard } = await startWaiting(owner, { base: deaf });
      const failed = await fixture.failedBuild(owner, site.id);
      const failedAt = performance.now();
      const { answer, at } = await heard;
      expect(idsOf(answer)).toEqual([failed]);
      return at - failedAt;
    };
    expect(await quickest(1_500, hear)).toBeLessThan(1_500);
  } finally {
    await app.close();
    await deps.close();
  }
});

test('earlier items do not end a wait, and later ones do', async () => {
  const { owner, site } = await newOwner();
  await fixture.failedBuild(owner, site.id);
  const [{ at }] = (await owner.call('GET', '/v1/inbox')).body.items;
  const { heard } = await startWaiting(owner, { query: `since=${at}&wait=30` });
  const later = await fixture.failedBuild(owner, (await ask.newSite(owner)).id);
  expect(idsOf((await heard).answer)).toEqual([later]);
});

test('a wait without items returns an empty list at its timeout', async () => {
  const { owner } = await newOwner();
  const began = performance.now();
  const { status, body } = await owner.call('GET', '/v1/inbox?wait=1');
  expect([status, body]).toEqual([200, { items: [], next_cursor: null }]);
  expect(performance.now() - began).toBeGreaterThanOrEqual(1000);
});

test('existing items are returned at once', async () => {
  const { owner, site } = await newOwner();
  const failed = await fixture.failedBuild(owner, site.id);
  const began = performance.now();
  expect(idsOf(await owner.call('GET', '/v1/inbox?wait=50'))).toEqual([failed]);
  expect(performance.now() - began).toBeLessThan(5_000);
});

test('a token has four waiting calls, and a disconnect frees one', async () => {
  const { owner } = await newOwner();
  const before = await arrivals(owner);
  const hanging = Array.from({ length: waitLimits.perToken }, () => {
    const headers = { authorization: `Bearer ${owner.token}` };
    return get(`${fixture.url}/v1/inbox?wait=50`, { headers }).on('error', () => {});
  });
  await until(
    () => arrivals(owner),
    (n) => n >= before + hanging.length,
  );
  const fifth = () => owner.call('GET', '/v1/inbox?wait=1');
  const refused = await until(fifth, ({ status }) => status === 429);
  expect(errorOf(refused)).toMatchObject({ code: 'rate_limited', retryable: true });
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await owner.call('GET', '/v1/inbox')).status).toBe(200);
  hanging[0]?.destroy();
  await until(fifth, ({ status }) => status === 200);
  for (const call of hanging) call.destroy();
});

test('calls whose clients disconnect during authentication do not wait', async () => {
  const { owner } = await newOwner();
  const { app, url } = await fixture.start();
  const client = new pg.Client({ connectionString: fixture.database.url });
  await client.connect();
  await client.query('begin; lock table token in access exclusive mode');
  const blocked = async () => (await client.query('select from pg_locks where not granted')).rowCount ?? 0;
  const connections = () => new Promise<number>((resolve) => app.server.getConnections((_, n) => resolve(n)));
  const headers = { authorization: `Bearer ${owner.token}` };
  const calls = Array.from({ length: waitLimits.perToken }, () =>
    get(`${url}/v1/inbox?wait=50`, { headers }).on('error', () => {}),
  );
  await until(blocked, (n) => n >= calls.length);
  for (const call of calls) call.destroy();
  await until(connections, (n) => n === 0);
  await client.query('commit');
  await client.end();
  const next = () => callWith(url, owner.token)('GET', '/v1/inbox?wait=1');
  await until(next, ({ status }) => status === 200, 15_000);
});

test('an account’s waiting calls are limited over its tokens; another account can wait', async () => {
  const waiting = openWaiting(fixture.deps, { perToken: 2, perAccount: 3, all: 9, reading: 3 });
  const [owner, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const wait = ({ accountId }: Caller, tokenId: string) =>
    waiting.wait(actorOf(accountId, tokenId), undefined, 60_000, new AbortController().signal);
  const waits = [wait(owner, 'one'), wait(owner, 'one'), wait(owner, 'two'), wait(stranger, 'three')];
  await expect(wait(owner, 'two')).rejects.toThrow('3 calls of this account are already waiting.');
  waiting.close();
  expect(await Promise.all(waits)).toEqual([[], [], [], []]);
  await expect(wait(owner, 'two')).resolves.toEqual([]);
});

test('two hundred waiting calls hold no database connection', async () => {
  const { app, url } = await fixture.start();
  const callers = await Promise.all(Array.from({ length: 50 }, () => fixture.newCaller()));
  const waits = callers.flatMap((caller) => Array.from({ length: 4 }, () => caller));
  let answered = 0;
  const answers = waits.map(async ({ token }) => {
    const answer = await callWith(url, token)('GET', '/v1/inbox?wait=50');
    answered += 1;
    return answer;
  });
  const counted = async () => (await Promise.all(callers.map(arrivals))).reduce((sum, one) => sum + one);
  await until(counted, (n) => n >= waits.length);
  const client = new pg.Client({ connectionString: fixture.database.url });
  await client.connect();
  const busy = async () => {
    const { rows } = await client.query(
      `select count(*)::int as n from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid() and state <> 'idle'`,
    );
    return rows[0].n as number;
  };
  await until(busy, (n) => n === 0);
  await client.end();
  expect((await callWith(url, (callers[0] as Caller).token)('GET', '/v1/account')).status).toBe(200);
  expect(answered).toBe(0);
  const closing = app.close();
  expect(new Set((await Promise.all(answers)).map(({ status }) => status))).toEqual(new Set([200]));
  app.server.closeAllConnections();
  await closing;
});

test('a caller that loses access while waiting receives nothing', async () => {
  const { owner, site } = await newOwner();
  const collaborator = await ask.newCollaborator(owner, site.id);
  const revoker = await fixture.newCaller();
  const { body: second } = await revoker.call('POST', '/v1/tokens', { body: { name: 'second' } });
  const revoked = {
    ...revoker,
    token: second.access_token as string,
    call: callWith(fixture.url, second.access_token),
  };
  const waits = [
    await startWaiting(collaborator, { query: 'wait=3' }),
    await startWaiting(revoked, { query: 'wait=30' }),
  ];
  await ask.remove(owner, site.id, collaborator.accountId);
  expect((await revoker.call('DELETE', `/v1/tokens/${second.id}`)).status).toBe(200);
  await fixture.failedBuild(owner, site.id);
  await fixture.failedBuild(revoker, (await ask.newSite(revoker)).id);
  const [outside, ended] = (await Promise.all(waits.map(({ heard }) => heard))) as [Heard, Heard];
  expect(idsOf(outside.answer)).toEqual([]);
  expect(errorOf(ended.answer).code).toBe('unauthorized');
});

test('a new member receives the waiting items of a site', async () => {
  const { owner, site } = await newOwner();
  const guest = await fixture.newCaller();
  const { body: invitation } = await ask.invite(owner, site.id, await ask.emailOf(guest));
  const failed = await fixture.failedBuild(owner, site.id);
  const { heard } = await startWaiting(guest, { query: `since=${invitation.created_at}&wait=30` });
  const joinedAt = performance.now();
  await ask.accept(guest, invitation.id);
  const { answer, at } = await heard;
  expect(idsOf(answer)).toEqual([failed]);
  expect(at - joinedAt).toBeLessThan(5_000);
});

test('a process that shuts down answers its waiting calls', async () => {
  const { owner } = await newOwner();
  const third = await fixture.start();
  const { heard } = await startWaiting(owner, { base: third.url, query: 'wait=50' });
  const closing = third.app.close();
  const { answer } = await heard;
  // The connection is kept by the caller.
  third.app.server.closeAllConnections();
  await closing;
  expect([answer.status, answer.body.items]).toEqual([200, []]);
});
