import { mkdir, rmdir } from 'node:fs/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import * as sample from '#test/git/samples.ts';
import { createMaterial, type Material, tally } from './fixture.ts';

let material: Material;
const perDay = 20;
beforeAll(async () => {
  material = await createMaterial({ FRONTAGE_PHOTOS: 'offline' }, { limits: { files_per_day: perDay } });
});
afterAll(() => material.close());

const dayMs = 86_400_000;
const commit = (path: string, bytes: Buffer) => ({
  message: 'x',
  changes: [{ path, base64: bytes.toString('base64') }],
});

test('a search that finds nothing says where other photos are', async () => {
  const owner = await material.owner();
  const find = async (query: string) => (await owner.call('POST', '/v1/photos/search', { body: { query } })).body;
  expect(await find('bread')).not.toHaveProperty('next_action');
  const next_action = expect.stringMatching(/^No photo fits/);
  expect(await find('a dentist')).toEqual({ items: [], next_action });
});

test('of 40 concurrent writes against a daily limit of 20 exactly 20 pass', async () => {
  const owner = await material.owner();
  const second = await material.secondSite(owner);
  const sites = [owner.siteId, second];
  const links = await Promise.all(sites.map((siteId) => material.link(owner, siteId, { max_files: 100 })));
  const before = await Promise.all(sites.map((siteId) => material.assetFiles(siteId)));
  const found = await owner.call('POST', '/v1/photos/search', { body: { query: 'sea' } });
  const photo_id = found.body.items[0].id;
  const ways = [
    (n: number, siteId: string) => material.put(owner, siteId, `src/assets/put-${n}.png`, sample.pngOf(n + 1, 1)),
    (n: number, siteId: string) =>
      owner.call('POST', `/v1/sites/${siteId}/commits`, {
        body: commit(`src/assets/commit-${n}.png`, sample.pngOf(n + 1, 2)),
      }),
    (n: number, siteId: string) =>
      material.send(links[sites.indexOf(siteId)] ?? { secret: '' }, `link-${n}.png`, sample.pngOf(n + 1, 3)),
    (n: number, siteId: string) =>
      owner.call('POST', `/v1/sites/${siteId}/photos`, { body: { photo_id, path: `src/assets/photo-${n}.jpg` } }),
  ];
  const answers = await Promise.all(
    Array.from({ length: 2 * perDay }, (_, n) =>
      (ways[n % 4] as (typeof ways)[0])(n, sites[Math.floor(n / 4) % 2] ?? ''),
    ),
  );
  expect(tally(answers)).toEqual({ 200: perDay, rate_limited: perDay });
  const after = await Promise.all(sites.map((siteId) => material.assetFiles(siteId)));
  const arrived = after.flat().filter((path) => !path.endsWith('.credit.json')).length - before.flat().length;
  expect(arrived).toBe(perDay);
  expect(await material.usedToday(owner)).toBe(perDay);
}, 120_000);

test('a used-up daily limit names its reset at midnight UTC', async () => {
  const owner = await material.owner();
  const path = `/v1/sites/${owner.siteId}/commits`;
  const changes = Array.from({ length: perDay }, (_, n) => ({
    path: `src/assets/${n}.png`,
    base64: sample.pngOf(n + 1, 1).toString('base64'),
  }));
  expect((await owner.call('POST', path, { body: { message: 'x', changes } })).status).toBe(200);
  const now = material.clock.now();
  const midnight = new Date(Math.ceil(now.getTime() / dayMs) * dayMs);
  const { limits } = (await owner.call('GET', '/v1/account')).body;
  expect(limits.files_per_day).toEqual({ value: perDay, used: perDay, resets_at: midnight.toISOString() });
  const answer = await material.put(owner, owner.siteId, 'src/assets/more.png', sample.png);
  expect([answer.status, errorOf(answer)]).toMatchObject([429, { code: 'rate_limited', retryable: true }]);
  const wait = Number(answer.headers.get('retry-after'));
  expect(Math.abs(wait - (midnight.getTime() - now.getTime()) / 1000)).toBeLessThan(60);
  const text = { message: 'x', changes: [{ path: 'src/pages/free.md', text: 'Text elsewhere is free.' }] };
  expect((await owner.call('POST', path, { body: text })).status).toBe(200);
  material.skip(wait * 1000);
  expect((await material.put(owner, owner.siteId, 'src/assets/more.png', sample.png)).status).toBe(200);
  expect(await material.usedToday(owner)).toBe(1);
});

test('more files in a commit than a day allows are plan_limit', async () => {
  const owner = await material.owner();
  const changes = Array.from({ length: perDay + 1 }, (_, n) => ({
    path: `src/assets/${n}.png`,
    base64: sample.pngOf(n + 1, 1).toString('base64'),
  }));
  const answer = await owner.call('POST', `/v1/sites/${owner.siteId}/commits`, { body: { message: 'x', changes } });
  expect(errorOf(answer).code).toBe('plan_limit');
  expect(await material.usedToday(owner)).toBe(0);
});

test('a failed write returns its quota', async () => {
  const owner = await material.owner();
  const broken = material.repositories.place(owner.siteId, 'source').dir;
  // git finds a folder where it wants to lock the branch.
  await mkdir(`${broken}/refs/heads/main.lock/held`, { recursive: true });
  const link = await material.link(owner, owner.siteId, { max_files: 1 });
  const answers = await Promise.all([
    material.put(owner, owner.siteId, 'src/assets/a.png', sample.png),
    material.send(link, 'b.png', sample.pngOf(2, 2)),
  ]);
  expect(answers.map(({ status }) => status)).toEqual([409, 409]);
  expect(await material.usedToday(owner)).toBe(0);
  await rmdir(`${broken}/refs/heads/main.lock/held`);
  await rmdir(`${broken}/refs/heads/main.lock`);
  expect((await material.send(link, 'b.png', sample.pngOf(2, 2))).status).toBe(200);
  expect(await material.usedToday(owner)).toBe(1);
}, 120_000);

test('a collaborator’s writes count against the owner’s account', async () => {
  const [owner, guest] = [await material.owner(), await material.newCaller()];
  await material.deps
    .em()
    .execute('insert into collaborator (site_id, account_id, since) values (?, ?, ?)', [
      owner.siteId,
      guest.accountId,
      material.clock.now(),
    ]);
  expect((await material.put(guest, owner.siteId, 'src/assets/a.png', sample.png)).status).toBe(200);
  expect([await material.usedToday(owner), await material.usedToday(guest)]).toEqual([1, 0]);
});
