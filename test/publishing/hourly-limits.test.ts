/** The hourly limits of an owner: each is refused when it is reached, and the account says how much is used. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { publishingActivities } from '#activities/publishing.ts';
import { claimBuild } from '#db/deployments/queue.ts';
import { settle } from '#db/deployments/transitions.ts';
import { type Caller, createFixture, createSite, errorOf, type Fixture } from '#test/api/fixture.ts';

let fixture: Fixture;
const limits = { build_seconds_per_hour: 100, publishes_per_hour: 3, previews_per_hour: 2, uploads_per_hour: 1 };
beforeAll(async () => {
  fixture = await createFixture({}, { limits });
});
afterAll(() => fixture.close());

// Identical publishes are joined, unless they build with fresh caches.
const headers = { prefer: 'respond-async', 'cache-control': 'no-cache' };
const calls = {
  publishes_per_hour: (owner: Caller, id: string) =>
    owner.call('POST', `/v1/sites/${id}/publish`, { body: {}, headers }),
  previews_per_hour: (owner: Caller, id: string, at: number) =>
    owner.call('POST', `/v1/sites/${id}/previews/${at}`, { headers }),
  uploads_per_hour: (owner: Caller, id: string) => owner.call('POST', `/v1/sites/${id}/deployments`),
};
const limitsOf = async (owner: Caller) => (await owner.call('GET', '/v1/account')).body.limits;

test.each(Object.entries(calls))('%s are refused at the limit, apart from the others', async (name, call) => {
  const owner = await fixture.newCaller();
  const { id } = await createSite(owner, { template: 'blank' });
  const limit = limits[name as keyof typeof calls];
  const first = fixture.clock.now();
  for (let at = 1; at <= limit; at++) expect((await call(owner, id, at)).status).toBeLessThan(300);
  const told = await limitsOf(owner);
  expect(told[name]).toMatchObject({ value: limit, used: limit });
  expect(new Date(told[name].resets_at).getTime()).toBeGreaterThanOrEqual(first.getTime() + 3600_000);
  for (const other of Object.keys(calls)) if (other !== name) expect(told[other].used).toBe(0);
  const refused = await call(owner, id, 1 + limit);
  expect(errorOf(refused)).toMatchObject({ code: 'rate_limited', retryable: true });
  expect(refused.headers.get('retry-after')).toMatch(/^\d+$/);
});

test('no build is accepted or started after the hour’s build seconds are used', async () => {
  const owner = await fixture.newCaller();
  const [one, other] = [await createSite(owner, { template: 'blank' }), await createSite(owner, { template: 'blank' })];
  const { body: slow } = await calls.publishes_per_hour(owner, one.id);
  const { body: waits } = await calls.publishes_per_hour(owner, other.id);
  await claimBuild(fixture.deps.em(), fixture.clock, slow.id);
  fixture.skip(60_000);
  expect((await limitsOf(owner)).build_seconds_per_hour).toMatchObject({ value: 100, used: 60 });
  fixture.skip(40_000);
  for (const name of ['publishes_per_hour', 'previews_per_hour'] as const) {
    const error = errorOf(await calls[name](owner, other.id, 1));
    expect(error).toMatchObject({ code: 'rate_limited', retryable: true });
    expect(error.message).toContain('have taken 100 s within the last hour; the limit is 100 s');
  }
  const { claimBuild: start } = publishingActivities(fixture.deps);
  await expect(start(waits.id)).rejects.toMatchObject({ type: 'rate_limited', nonRetryable: true });
  expect((await calls.uploads_per_hour(owner, other.id)).status).toBe(200);

  await settle(fixture.deps.em(), fixture, slow.id, { status: 'cancelled' });
  fixture.skip(3600_000 - 99_000);
  expect((await limitsOf(owner)).build_seconds_per_hour.used).toBe(98);
  expect(await start(waits.id)).toEqual({ turn: 'build' });
});
