/** Build caches between the sandbox and the store. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { draftCache, siteCache } from '#activities/publishing/cache.ts';
import { SnapshotDigests } from '#activities/publishing/snapshot-digests.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import type { Store } from '#providers/store/store.ts';

let dir: string;
let store: Store;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-cache-'));
  store = createDiskStore(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

/** The cache as a build of the site has it; `status` is what its row says after it. */
function open(
  siteId: string,
  {
    status = 'live',
    image = 'image',
    noCache = false,
    epoch = 0,
    executed = 'code',
    from = store,
    of = siteCache,
  } = {},
) {
  const em = () => ({ findOneOrFail: async () => ({ status }) }) as never;
  const build = { id: 'dep_1', site: { id: siteId, cacheEpoch: epoch }, noCache };
  return of({ em, store: from, sandbox: { image } }, build, executed);
}
const read = async (siteId: string, asked = {}) => {
  const { cache } = await open(siteId, asked);
  return cache && (await text(cache));
};
const leave = async (siteId: string, words: string, asked = {}) =>
  (await open(siteId, asked)).onCache?.(Readable.from([Buffer.from(words)]));
const newSite = () => `site_${randomUUID().replaceAll('-', '')}`;

test('a site gets its own live build’s cache, and no other’s', async () => {
  const [mine, other] = [newSite(), newSite()];
  await leave(mine, 'poison');
  expect(await read(mine)).toBe('poison');
  expect(await read(other)).toBeUndefined();
});

test('another image, other code, or a build without cache, gets none', async () => {
  const site = newSite();
  await leave(site, 'of this image');
  expect(await read(site, { image: 'next' })).toBeUndefined();
  expect(await read(site, { noCache: true })).toBeUndefined();
  expect(await read(site, { executed: 'other code' })).toBeUndefined();
  expect(await read(site, { epoch: 1 })).toBeUndefined();
  expect(await read(site)).toBe('of this image');
});

test.each(['superseded', 'cancelled', 'failed', 'ready'])(
  'the cache of a deployment that is %s is discarded',
  async (status) => {
    const site = newSite();
    await leave(site, 'of the live version');
    await leave(site, 'poison', { status });
    expect(await read(site)).toBe('of the live version');
  },
);

test('an interrupted cache keeps the previous one, and leaves nothing', async () => {
  const site = newSite();
  await leave(site, 'whole');
  const { onCache } = await open(site);
  const broken = Readable.from(
    (async function* () {
      yield Buffer.from('half');
      throw new Error('broke off');
    })(),
  );
  await expect(onCache?.(broken)).rejects.toThrow('broke off');
  expect(await read(site)).toBe('whole');
  expect(await readdir(join(dir, 'tmp'))).toEqual([]);
});

test('drafts get the site’s cache, else that of drafts, and leave the site none', async () => {
  const site = newSite();
  const draft = { of: draftCache, status: 'building' };
  await leave(site, 'of a draft', draft);
  expect(await read(site)).toBeUndefined();
  expect(await read(site, draft)).toBe('of a draft');
  for (const other of [{ executed: 'other code' }, { epoch: 1 }, { image: 'next' }, { noCache: true }])
    expect(await read(site, { ...draft, ...other })).toBeUndefined();
  expect(await read(newSite(), draft)).toBeUndefined();
  await leave(site, 'of the site');
  expect(await read(site, draft)).toBe('of the site');
});

test('a build that started before caches were dropped leaves none', async () => {
  const site = newSite();
  await leave(site, 'poison', { epoch: 1 });
  expect(await read(site, { epoch: 2 })).toBeUndefined();
});

test('a cache that is not read closes its file', async () => {
  const site = newSite();
  await leave(site, 'unread');
  let file: Readable | undefined;
  const read = async (name: string) => {
    file = await store.caches.read(name);
    return file;
  };
  const { cache } = await open(site, { from: { ...store, caches: { ...store.caches, read } } });
  cache?.destroy();
  await expect.poll(() => file?.destroyed).toBe(true);
});

test.each([
  ['astro.config.mjs', 'a', true],
  ['src/pages/index.astro', 'a', true],
  ['src/pages/about.md', 'Text.', true],
  ['src/content/posts/a.mdx', 'Text.', true],
  ['src/content/posts/a.md', '---\nlayout: ./b.yaml\n---\n', true],
  ['src/content/posts/a.md', '---\n"\\u006cayout": ./b.yaml\n---\n', true],
  ['src/content/posts/a.md', '---\ntitle: A\n---\nThe layout of a shop.', false],
  ['src/content/posts/a.json', '{}', false],
  // What `![](./a.csv)` shows is imported, and the bundler executes unknown kinds of files.
  ['src/content/posts/a.csv', 'a', true],
  ['src/content/posts/a.yaml', 'a: 1', true],
  ['src/assets/a.jpg', 'a', false],
  ['src/assets/a.svg', '<svg/>', true],
])('%s with %j is executed: %s', (path, content, isExecuted) => {
  const [none, one] = [new SnapshotDigests(), new SnapshotDigests()];
  one.add(path, 'a'.repeat(40), Buffer.from(content));
  expect(one.ofExecuted() !== none.ofExecuted()).toBe(isExecuted);
});
