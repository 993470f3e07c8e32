/** What one account's changing calls leave of the database connections. */
import { request } from 'node:http';
import { afterAll, expect, test } from 'vitest';
import { lockSite } from '#db/sites/transitions.ts';
import { type Caller, callWith, createFixture, createSite, errorOf } from './fixture.ts';

const fixture = await createFixture();
const outside = await fixture.start();
afterAll(() => fixture.close());

/** Locks the site's row until the returned function is called, on a connection of another process. */
async function hold(siteId: string): Promise<() => Promise<void>> {
  const locked = Promise.withResolvers<void>();
  const over = Promise.withResolvers<void>();
  const held = outside.deps.em().transactional(async (tx) => {
    await lockSite(tx, siteId);
    locked.resolve();
    await over.promise;
  });
  await locked.promise;
  return async () => {
    over.resolve();
    await held;
  };
}

async function lockWaiters(): Promise<number> {
  const [row] = await outside.deps
    .em()
    .execute<[{ count: string }]>(
      `select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`,
    );
  return Number(row.count);
}

const patient = { timeout: 10_000, interval: 20 };
const untilWaiting = (calls: number) => expect.poll(lockWaiters, patient).toBeGreaterThanOrEqual(calls);
const clear = (caller: Caller, site: { id: string }) => caller.call('DELETE', `/v1/sites/${site.id}/previews/1`);
async function isUsed(tokenId: string): Promise<boolean> {
  const rows = await outside.deps
    .em()
    .execute('select from token where id = ? and last_used_at is not null', [tokenId]);
  return rows.length > 0;
}
const slow = (ms: number) => new Promise<'slow'>((resolve) => setTimeout(resolve, ms, 'slow').unref());

test('calls that wait for one site leave connections to other accounts', async () => {
  const [busy, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(busy);
  const release = await hold(site.id);
  const calls = Array.from({ length: 30 }, () => clear(busy, site));
  try {
    await untilWaiting(4);
    const page = () => fetch(`${fixture.url}/signin`).then((answer) => answer.text());
    for (const ask of [() => other.call('GET', '/v1/account'), () => createSite(other), page]) {
      const answer = await Promise.race([ask(), slow(2_000)]);
      expect(answer).not.toBe('slow');
    }
    expect(await lockWaiters()).toBe(4);
  } finally {
    await release();
  }
  const codes = (await Promise.all(calls)).map((answer) => errorOf(answer).code);
  expect(codes).toEqual(Array(30).fill('slot_empty'));
}, 60_000);

test('calls that three accounts hold up free their connections in time', async () => {
  const api = await fixture.start({ lockTimeoutMs: 1_000 });
  const busy = await Promise.all(Array.from({ length: 3 }, () => fixture.newCaller(api.url)));
  const sites = await Promise.all(busy.map((caller) => createSite(caller)));
  const releases = await Promise.all(sites.map(({ id }) => hold(id)));
  try {
    const calls = busy.flatMap((caller, n) => Array.from({ length: 4 }, () => clear(caller, sites[n])));
    await untilWaiting(10);
    await createSite(await fixture.newCaller(api.url));
    for (const answer of await Promise.all(calls)) {
      expect(errorOf(answer)).toMatchObject({ code: 'rate_limited', retryable: true });
      expect(answer.headers.get('retry-after')).toBe('5');
    }
  } finally {
    await Promise.all(releases.map((release) => release()));
  }
}, 60_000);

test('calls of clients that disconnected hold their places until they end', async () => {
  const busy = await fixture.newCaller();
  const site = await createSite(busy);
  const release = await hold(site.id);
  const send = () => {
    const headers = { authorization: `Bearer ${busy.token}` };
    const at = `${fixture.url}/v1/sites/${site.id}/previews/1`;
    return request(at, { method: 'DELETE', headers, agent: false })
      .on('error', () => {})
      .end();
  };
  try {
    const calls = Array.from({ length: 8 }, send);
    await untilWaiting(4);
    for (const call of calls) call.destroy();
    const later = clear(busy, site);
    expect(await Promise.race([later, slow(300)])).toBe('slow');
    expect(await lockWaiters()).toBe(4);
    await release();
    expect(errorOf(await later).code).toBe('slot_empty');
  } finally {
    await release();
  }
});

test('a queued call whose token is revoked meanwhile changes nothing', async () => {
  const busy = await fixture.newCaller();
  const site = await createSite(busy);
  const { body: second } = await busy.call('POST', '/v1/tokens', { body: { name: 'second' } });
  const release = await hold(site.id);
  try {
    const calls = Array.from({ length: 4 }, () => clear(busy, site));
    await untilWaiting(4);
    const queued = callWith(fixture.url, second.access_token)('PATCH', `/v1/sites/${site.id}`, {
      body: { title: 'Changed' },
    });
    await expect.poll(() => isUsed(second.id), patient).toBe(true);
    await outside.deps.em().execute('update token set revoked_at = now() where id = ?', [second.id]);
    await release();
    expect((await queued).status).toBe(401);
    await Promise.all(calls);
    expect((await busy.call('GET', `/v1/sites/${site.id}`)).body.title).not.toBe('Changed');
  } finally {
    await release();
  }
});

test('publishes that wait for their workflows leave their places to other calls', async () => {
  const owner = await fixture.newCaller();
  const sites = [];
  for (let n = 0; n < 5; n++) sites.push(await createSite(owner));
  let answered = 0;
  const waiting = sites.map(async ({ id }) => {
    const answer = await owner.call('POST', `/v1/sites/${id}/publish`, { body: {}, headers: { prefer: 'wait=5' } });
    answered += 1;
    return answer.body.status;
  });
  for (const { id } of sites) {
    const accepted = async () => (await owner.call('GET', `/v1/sites/${id}/deployments`)).body.items.length;
    await expect.poll(accepted, patient).toBe(1);
  }
  expect(answered).toBe(0);
  expect(await Promise.all(waiting)).toEqual(Array(5).fill('queued'));
}, 30_000);
