/** The analytics call: periods, gaps, refusals, and equal results before and after rolling up. */
import { afterAll, expect, test } from 'vitest';
import { rollUpViews } from '#db/analytics/roll-up.ts';
import { createFixture, errorOf } from '#test/api/fixture.ts';
import { until } from '#test/stack/until.ts';
import { agents, createAnalyticsFixture, pages } from './fixture.ts';

const fixture = await createAnalyticsFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const dayMs = 86_400_000;
const rollUp = () => rollUpViews(fixture.deps.em, fixture.clock.now(), () => {});

test.each([
  ['24h', 24, 3_600_000],
  ['7d', 7, dayMs],
  ['30d', 30, dayMs],
  ['12mo', 12, undefined],
] as const)('a series of %s has %i parts without gaps, up to now', async (period, parts, stepMs) => {
  const site = await fixture.publish(owner, pages);
  const edge = await fixture.openEdge();
  await fixture.visit(edge, site, '/');
  await edge.counting.flush();
  const { series } = await fixture.report(owner, site, period);
  const starts = series.map(({ at }: { at: string }) => new Date(at).getTime());
  expect(series).toHaveLength(parts);
  expect(series.at(-1)).toEqual({ at: expect.any(String), views: 1, visitors: 1 });
  expect(series.slice(0, -1).every((one: { views: number; visitors: number }) => one.views + one.visitors === 0)).toBe(
    true,
  );
  const now = fixture.clock.now().getTime();
  expect(starts.at(-1)).toBeLessThanOrEqual(now);
  for (let n = 1; n < parts; n++) {
    const step = starts[n] - starts[n - 1];
    if (stepMs === undefined) expect(new Date(starts[n]).getUTCDate()).toBe(1);
    else expect(step).toBe(stepMs);
  }
});

test('the default period is seven days', async () => {
  const site = await fixture.publish(owner, pages);
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/analytics`);
  expect(body).toMatchObject({ period: '7d', views: 0, visitors: 0, pages: [], referrers: [], devices: [] });
});

test.each(['1h', '', '7D', '90d', 'constructor'])('period=%s is invalid_period', async (period) => {
  const site = await fixture.publish(owner, pages);
  const answer = await owner.call('GET', `/v1/sites/${site.id}/analytics?period=${period}`);
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_period']);
});

test('with analytics off, the call is analytics_disabled before any validation', async () => {
  const off = await createFixture({ FRONTAGE_ANALYTICS: 'off' });
  try {
    const answer = await (await off.newCaller()).call('GET', '/v1/sites/site_none/analytics?period=never');
    expect([answer.status, errorOf(answer).code]).toEqual([503, 'analytics_disabled']);
    expect((await (await off.newCaller()).call('GET', '/v1/account')).body.capabilities.analytics).toBe(false);
  } finally {
    await off.close();
  }
});

test('a visitor counts once a day, and rolling up changes no result', async () => {
  const site = await fixture.publish(owner, pages);
  const edge = await fixture.openEdge();
  const saltOf = (day: string) => fixture.deps.em().execute('select 1 from visitor_salt where day = ?', [day]);
  /** The edge goes through the night, and has begun the day when it has asked for the day's salt. */
  async function nextDay(): Promise<void> {
    const midnight = (Math.floor(fixture.clock.now().getTime() / dayMs) + 1) * dayMs;
    fixture.skip(midnight - fixture.clock.now().getTime() + 3_600_000);
    const day = fixture.clock.now().toISOString().slice(0, 10);
    await until(
      () => saltOf(day),
      (rows) => rows.length > 0,
    );
  }
  const both = async () => [
    await fixture.report(owner, site, '7d'),
    await fixture.report(owner, site, '30d'),
    await fixture.report(owner, site, '12mo'),
  ];
  await nextDay();
  await fixture.visit(edge, site, '/', { headers: { referer: 'https://example.org/' } });
  await fixture.visit(edge, site, '/about', { userAgent: agents.mobile });
  await nextDay();
  await fixture.visit(edge, site, '/');
  await fixture.openEdge().then(async (another) => {
    await fixture.visit(another, site, '/');
    await another.counting.flush();
  });
  await edge.counting.flush();
  const before = await both();
  for (const report of before) expect(report).toMatchObject({ views: 4, visitors: 3 });
  expect(await rollUp()).toMatchObject({ days: expect.any(Number) });
  expect(await both()).toEqual(before);
  expect((await rollUp()).days).toBe(0);
  expect(await both()).toEqual(before);
});

test('a day’s salt is deleted after the day, and hours after they are summed', async () => {
  const site = await fixture.publish(owner, pages);
  const edge = await fixture.openEdge();
  await fixture.visit(edge, site, '/');
  await edge.counting.flush();
  const em = fixture.deps.em();
  const saltsBefore = await em.execute('select day::text as day from visitor_salt');
  expect(saltsBefore.length).toBeGreaterThan(0);
  fixture.skip(3 * dayMs);
  await rollUp();
  const today = fixture.clock.now().toISOString().slice(0, 10);
  const left: { day: string }[] = await em.execute('select day::text as day from visitor_salt');
  expect(left.filter(({ day }) => day < today)).toEqual([]);
  expect(await em.execute('select 1 from view_hour where site_id = ?', [site.id])).toEqual([]);
  expect(await fixture.report(owner, site, '7d')).toMatchObject({
    views: 1,
    visitors: 1,
    pages: [{ path: '/', views: 1 }],
  });
});

test('late hours are counted once, as long as their day is kept', async () => {
  const site = await fixture.publish(owner, pages);
  const em = fixture.deps.em();
  const write = (writer: string, daysAgo: number, views = 5) =>
    em.execute(
      `insert into view_hour (site_id, hour, writer, views, sketch, pages, referrers, countries, devices)
       values (?, ?, ?, ?, '\\x000101', '{"/": 5}', '{}', '{}', '{"desktop": 5}')`,
      [site.id, new Date(Math.floor(fixture.clock.now().getTime() / dayMs) * dayMs - daysAgo * dayMs), writer, views],
    );
  await write('first', 1);
  await rollUp();
  await write('late', 1);
  await write('first', 6);
  await rollUp();
  expect((await fixture.report(owner, site, '30d')).views).toBe(15);
  // The other hours of that day are gone: to count it anew would forget them.
  await write('too late', 6, 7);
  await rollUp();
  await rollUp();
  expect((await fixture.report(owner, site, '30d')).views).toBe(15);
  fixture.skip(70 * dayMs);
  await rollUp();
  const months = await em.execute(`select 1 from view_total where site_id = ? and unit = 'month'`, [site.id]);
  expect(months.length).toBeGreaterThan(0);
  expect((await fixture.report(owner, site, '12mo')).views).toBe(15);
  expect((await fixture.report(owner, site, '12mo')).pages).toEqual([{ path: '/', views: 15 }]);
});
