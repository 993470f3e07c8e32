/** Memory and rows are bounded whatever visitors send, and failed writes are neither lost nor counted twice. */

import { afterAll, expect, test } from 'vitest';
import { rowOf } from '#db/analytics/counts.ts';
import { createCounters, viewRow } from '#edge/analytics/counters.ts';
import { createSalts } from '#edge/analytics/salts.ts';
import { until } from '#test/stack/until.ts';
import { agents, createAnalyticsFixture, pages } from './fixture.ts';

const fixture = await createAnalyticsFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const hour = (n: number) => new Date(n * 3_600_000);

test('referrers beyond the limit of a row are counted as other', async () => {
  const site = await fixture.publish(owner, pages);
  const edge = await fixture.openEdge();
  for (let n = 0; n < 30; n++) await fixture.visit(edge, site, '/', { headers: { referer: 'https://often.example/' } });
  for (let n = 0; n < 130; n++)
    await fixture.visit(edge, site, '/', { headers: { referer: `https://spam-${n}.example/${'x'.repeat(500)}` } });
  await edge.counting.flush();
  const [row] = await fixture.deps.em().execute('select referrers from view_hour where site_id = ?', [site.id]);
  const kept: Record<string, number> = typeof row?.referrers === 'string' ? JSON.parse(row.referrers) : row?.referrers;
  expect(Object.keys(kept)).toHaveLength(61);
  expect(kept).toMatchObject({ 'often.example': 30, other: 71 });
  const { views, referrers } = await fixture.report(owner, site);
  expect(views).toBe(160);
  expect(referrers).toHaveLength(51);
  expect(referrers[0]).toEqual({ host: 'often.example', views: 30 });
  expect(referrers.at(-1).host).toBe('other');
  expect(referrers.reduce((sum: number, one: { views: number }) => sum + one.views, 0)).toBe(160);
});

test('a process counts a bounded number of sites and keys', () => {
  const tallies = createCounters({ counters: 10, keys: 50 });
  tallies.begin(hour(1));
  for (let site = 0; site < 1_000; site++) {
    const tally = tallies.of(`site_${site}`);
    if (!tally) continue;
    tally.views += 20;
    tally.isNew = true;
    for (let key = 0; key < 20; key++) tallies.add(tally, 'pages', `/${key}`);
  }
  const held = tallies.unsaved();
  expect(held).toHaveLength(10);
  const known = held.flatMap(({ counts }) => [...counts.pages.keys()].filter((key) => key !== 'other'));
  expect(known).toHaveLength(50);
  for (const tally of held) expect([...tally.counts.pages.values()].reduce((sum, one) => sum + one)).toBe(20);
  // What is oldest makes room for a new hour, and its keys are free again.
  tallies.begin(hour(2));
  const next = tallies.of('site_next');
  expect(next?.hour).toEqual(hour(2));
  if (next) tallies.add(next, 'pages', '/new');
  expect(next?.counts.pages.get('/new')).toBe(1);
  expect(tallies.unsaved()).toHaveLength(0);
});

test('hours that could not be saved for days are dropped', () => {
  const tallies = createCounters();
  for (const n of [1, 2]) {
    tallies.begin(hour(n));
    const tally = tallies.of('site_a');
    if (tally) tally.isNew = true;
  }
  tallies.begin(hour(3));
  tallies.forget(hour(2));
  expect(tallies.unsaved().map((tally) => tally.hour)).toEqual([hour(2)]);
});

test('counting continues after the clock was set back over the hour', () => {
  const tallies = createCounters();
  for (const n of [1, 2, 1]) {
    tallies.begin(hour(n));
    const tally = tallies.of('site_a');
    if (!tally) throw new Error('there is room');
    tally.views += 1;
    tally.isNew = true;
  }
  const rows = tallies.unsaved().map(({ hour, views }) => [hour.getTime(), views]);
  expect(rows.sort()).toEqual([
    [hour(1).getTime(), 2],
    [hour(2).getTime(), 1],
  ]);
});

test('a row keeps its most frequent keys', () => {
  const tallies = createCounters();
  const tally = tallies.of('site_a');
  if (!tally) throw new Error('there is room');
  for (let n = 0; n < 300; n++) tally.counts.pages.set(`/${n}`, n + 1);
  const { pages: kept } = rowOf(tally.counts);
  expect(Object.keys(kept)).toHaveLength(101);
  expect([kept['/299'], kept['/200'], kept['/199'], kept.other]).toEqual([300, 201, undefined, (200 * 201) / 2]);
  expect(viewRow(tally).pages).toEqual(kept);
});

test('counts are saved once after a write that failed or whose response was lost', async () => {
  const site = await fixture.publish(owner, pages);
  let fault: 'none' | 'before' | 'after' = 'none';
  const edge = await fixture.openEdge({
    through: (database) => ({
      ...database,
      async write(rows) {
        if (fault === 'before') throw new Error('no connection');
        await database.write(rows);
        if (fault === 'after') throw new Error('the connection was lost before the answer');
      },
    }),
  });
  const said = () => fixture.logged.filter(({ msg }) => msg.startsWith('page views')).map(({ msg }) => msg);
  const before = said().length;
  for (const next of ['none', 'before', 'after', 'before', 'none'] as const) {
    fault = next;
    await fixture.visit(edge, site, '/');
    await fixture.visit(edge, site, '/about', { userAgent: agents.mobile });
    await edge.counting.flush();
    await edge.counting.flush();
  }
  expect(await fixture.report(owner, site)).toMatchObject({
    views: 10,
    visitors: 2,
    pages: [{ views: 5 }, { views: 5 }],
  });
  // Logged once, however often it failed.
  expect(said().slice(before)).toEqual(['page views cannot be saved; retrying', 'page views are being saved again']);
});

test('counts are saved when an edge ends, and every few seconds', async () => {
  const site = await fixture.publish(owner, pages);
  const [ending, staying] = [await fixture.openEdge(), await fixture.openEdge()];
  await fixture.visit(ending, site, '/');
  await ending.close();
  expect((await fixture.report(owner, site)).views).toBe(1);
  await fixture.visit(staying, site, '/');
  await until(
    () => fixture.report(owner, site),
    ({ views }) => views === 2,
  );
});

test('an edge continues to save when one of its sites is gone', async () => {
  const site = await fixture.publish(owner, pages);
  let more = true;
  const edge = await fixture.openEdge({
    through: (database) => ({
      ...database,
      write: (rows) =>
        database.write(more ? [...rows, ...rows.map((row) => ({ ...row, site_id: 'site_gone' }))] : rows),
    }),
  });
  await fixture.visit(edge, site, '/');
  await edge.counting.flush();
  more = false;
  expect((await fixture.report(owner, site)).views).toBe(1);
});

test('an edge forgets a day’s salt after the day', async () => {
  const asked: string[] = [];
  const database = {
    saltOf: async (day: string, offered: Buffer) => {
      asked.push(day);
      return offered;
    },
  };
  const salts = createSalts({ database, secret: 'x' });
  for (const day of ['01', '02', '01']) await salts.refresh(new Date(`2026-03-${day}T12:00:00Z`));
  expect(asked).toEqual(['2026-03-01', '2026-03-02', '2026-03-01']);
});
