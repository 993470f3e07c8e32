/** After a publish, open pages still find their scripts and pictures. */
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { createPreviousAssets } from '#edge/content/previous-assets.ts';
import { type EdgeDatabase, openEdgeDatabase, type SiteRow } from '#edge/routing/database.ts';
import { systemClock } from '#runtime/clock.ts';
import { ask, createFixture, deaf, type Fixture, until } from './fixture.ts';

const day = 24 * 60 * 60 * 1000;
const daysAgo = (days: number) => new Date(systemClock.now().getTime() - days * day);
const host = 'shop.sites.test';

let fixture: Fixture;
let port: number;
let siteId: string;

beforeAll(async () => {
  fixture = await createFixture();
  siteId = await fixture.addSite('shop');
  const add = async (days: number, mark: string, files: Record<string, string> = {}) =>
    fixture.addDeployment(
      siteId,
      await fixture.keep({ [`_astro/${mark}.AbCd1234.js`]: mark, ...files }),
      daysAgo(days),
    );
  await add(90, 'ancient');
  // Replaced 20 days ago: until then visitors were given its pages.
  await add(60, 'lasting', { '_astro/named.js': 'no hash', 'gone.html': 'gone', 'gone.png': 'gone' });
  await add(20, 'recent');
  const failed = await fixture.keep({ '_astro/failed.AbCd1234.js': 'failed' });
  const failedId = await fixture.addDeployment(siteId, failed, daysAgo(2));
  await fixture.db.query(`update deployment set status = 'failed', error = '{}' where id = $1`, [failedId]);
  await fixture.point(siteId, await add(1, 'live', { 'index.html': 'now' }));
  ({ port } = await fixture.openEdge());
});
afterAll(() => fixture?.close());

test.each(['live', 'recent', 'lasting'])(
  'the %s version’s hashed asset is served with a permanent cache',
  async (mark) => {
    const answer = await ask(port, `/_astro/${mark}.AbCd1234.js`, { host });
    expect([answer.status, answer.text]).toEqual([200, mark]);
    expect(answer.headers['cache-control']).toBe('public, max-age=31536000, immutable');
  },
);

test.each([
  ['of a version that was replaced more than 30 days ago', '/_astro/ancient.AbCd1234.js'],
  ['of a version that failed', '/_astro/failed.AbCd1234.js'],
  ['without a hash in its name', '/assets/named.js'],
  ['that no version had', '/_astro/never.AbCd1234.js'],
  ['outside the assets’ folder', '/gone.png'],
])('a file %s is missing, and that is not cached', async (_what, path) => {
  const answer = await ask(port, path, { host });
  expect(answer.status).toBe(404);
  expect(answer.headers['cache-control']).toBe('no-store');
});

test('a previous page is missing', async () => {
  expect((await ask(port, '/gone', { host })).status).toBe(404);
});

test('another site’s assets are missing', async () => {
  await fixture.publish('other', { '_astro/other.AbCd1234.js': 'other' });
  const edge = await fixture.openEdge();
  expect((await ask(edge.port, '/_astro/other.AbCd1234.js', { host: 'other.sites.test' })).status).toBe(200);
  expect((await ask(edge.port, '/_astro/other.AbCd1234.js', { host })).status).toBe(404);
});

test('an asset is served even if its version went live after the last query', async () => {
  const { siteId: id } = await fixture.publish('hurried', { 'index.html': 'one' });
  const edge = await fixture.openEdge({ notifications: deaf });
  for (const mark of ['second', 'third', 'fourth']) {
    expect((await ask(edge.port, '/_astro/none.AbCd1234.js', { host: 'hurried.sites.test' })).status).toBe(404);
    const path = `/_astro/${mark}.AbCd1234.js`;
    await fixture.addDeployment(id, await fixture.keep({ [path.slice(1)]: mark }));
    const answer = await ask(edge.port, path, { host: 'hurried.sites.test' });
    expect([answer.status, answer.text]).toEqual([200, mark]);
  }
});

test('requests for missing assets cause at most four queries a second', async () => {
  const database = openEdgeDatabase(fixture.database.url);
  onTestFinished(() => database.close());
  let questions = 0;
  const counting: EdgeDatabase = {
    ...database,
    manifestsSeenSince(...question) {
      questions += 1;
      return database.manifestsSeenSince(...question);
    },
  };
  const { store } = fixture;
  const log = pino({ level: 'silent' });
  const earlier = createPreviousAssets({ database: counting, store, clock: systemClock, log, bytesMax: 1024 * 1024 });
  const began = performance.now();
  const find = (n: number) => earlier.find(siteId, `_astro/made-up.${String(n).padStart(8, '0')}.js`);
  for (let round = 0; round < 5; round++) {
    const found = await Promise.all(Array.from({ length: 300 }, (_, n) => find(round * 300 + n)));
    expect(found.every((asset) => asset === undefined)).toBe(true);
  }
  await Promise.all(Array.from({ length: 50 }, () => earlier.find('site_unknown', '_astro/x.AbCd1234.js')));
  expect(questions).toBeLessThanOrEqual(2 + Math.ceil((performance.now() - began) / 250));
});

describe('previous assets of a site', () => {
  const log = pino({ level: 'silent' });
  const parts = () => {
    const database = openEdgeDatabase(fixture.database.url);
    onTestFinished(() => database.close());
    return { database, log, clock: systemClock };
  };
  const many = (mark: string) =>
    Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`_astro/${mark}${n}.AbCd1234.js`, mark]));

  test('are read once; assets that do not fit are left out, oldest first', async () => {
    const id = await fixture.addSite('large');
    for (const days of [3, 2, 1]) await fixture.addDeployment(id, await fixture.keep(many(`v${days}-`)), daysAgo(days));
    let reads = 0;
    const store = {
      ...fixture.store,
      readAll: (...asked: Parameters<typeof fixture.store.readAll>) => {
        reads += 1;
        return fixture.store.readAll(...asked);
      },
    };
    const shared = parts();
    // Room for 50 of them, and so for all of the newest.
    const earlier = createPreviousAssets({ ...shared, store, bytesMax: 40_000 });
    expect(await earlier.find(id, '_astro/v1-39.AbCd1234.js')).toBeDefined();
    const before = reads;
    const none = Array.from({ length: 20 }, (_, n) => earlier.find(id, `_astro/none${n}.AbCd1234.js`));
    expect((await Promise.all(none)).filter(Boolean)).toEqual([]);
    expect(reads).toBe(before);
    expect(await earlier.find(id, '_astro/v3-0.AbCd1234.js')).toBeUndefined();
  });

  test('grow with each version, and expire 30 days after their last', async () => {
    const id = await fixture.addSite('ageing');
    let now = systemClock.now().getTime();
    const clock = { now: () => new Date(now) };
    const publish = async (mark: string, days: number) =>
      fixture.addDeployment(id, await fixture.keep({ [`_astro/${mark}.AbCd1234.js`]: mark }), daysAgo(days));
    await publish('first', 20);
    await publish('second', 10);
    const shared = parts();
    const earlier = createPreviousAssets({ ...shared, clock, store: fixture.store, bytesMax: 1024 * 1024 });
    const has = (mark: string) => earlier.find(id, `_astro/${mark}.AbCd1234.js`).then((asset) => asset !== undefined);
    expect([await has('first'), await has('second'), await has('third')]).toEqual([true, true, false]);
    await publish('third', 0);
    await until(() => has('third'));
    expect([await has('first'), await has('second')]).toEqual([true, true]);
    // The first was live until the second was: 21 days from now that is 31 days ago.
    now += 21 * day;
    await until(async () => {
      await has('never');
      return !(await has('first'));
    });
    expect([await has('second'), await has('third')]).toEqual([true, true]);
  });
});

test('a site has its own previews, without the removed ones', async () => {
  const { siteId, deploymentId } = await fixture.publish('drafts', { 'index.html': 'drafts' });
  const plain = await fixture.publish('plain', { 'index.html': 'plain' });
  const removed = await fixture.publish('cleared', { 'index.html': 'cleared' });
  const addPreview = (id: string, to: { siteId: string; deploymentId: string }, removedAt: Date | null) =>
    fixture.db.query(
      `insert into preview (id, site_id, slot, label, latest_id, deployment_id, expires_at, created_at, removed_at)
       values ($1, $2, 1, 'p--' || $1, $3, $3, now(), now(), $4)`,
      [id, to.siteId, to.deploymentId, removedAt],
    );
  await addPreview('shown', { siteId, deploymentId }, null);
  await addPreview('gone', removed, new Date());
  const database = openEdgeDatabase(fixture.database.url);
  onTestFinished(() => database.close());
  const sites: SiteRow[] = [];
  for await (const part of database.allSites()) sites.push(...part.sites);
  const previewsOf = (id: string) => sites.find((site) => site.id === id)?.previews?.map(({ label }) => label);
  expect([siteId, plain.siteId, removed.siteId].map(previewsOf)).toEqual([['p--shown'], undefined, undefined]);
  expect(sites.find(({ id }) => id === plain.siteId)).not.toHaveProperty('previews');
});
