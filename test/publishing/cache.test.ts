/** Build caches between the sandbox and the store. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { draftCache, siteCache } from '#activities/publishing/cache.ts';
import { removeSnapshots } from '#activities/publishing/snapshot.ts';
import { SnapshotDigests } from '#activities/publishing/snapshot-digests.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import type { Store } from '#providers/store/store.ts';
import { toTar } from '#test/sandbox/tar.ts';

let dir: string;
let store: Store;
beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), 'frontage-cache-'));
  store = createDiskStore(dir);
});
afterAll(() => rm(dir, { recursive: true, force: true }));

const depsOf = (status: string, image = 'image', from = store) => {
  const em = () => ({ findOneOrFail: async () => ({ status }) }) as never;
  return { em, store: from, sandbox: { image } };
};

/** The cache as a build of the site has it; `status` is what its row says after it. */
function open(
  siteId: string,
  { status = 'live', image = 'image', noCache = false, epoch = 0, executed = 'code', from = store } = {},
) {
  const build = { id: 'dep_1', slot: null, site: { id: siteId, cacheEpoch: epoch }, noCache };
  return siteCache(depsOf(status, image, from), build, executed);
}

/** The same of one build of a draft. */
function openDraft(
  siteId: string,
  { id = 'dep_1', slot = 1, status = 'building', isLast = false, epoch = 0, executed = 'code' } = {},
) {
  const build = { id, slot, site: { id: siteId, cacheEpoch: epoch }, noCache: false };
  return draftCache(depsOf(status), build, executed, { isLast });
}
const readDraft = async (siteId: string, asked = {}) => {
  const { cache } = await openDraft(siteId, asked);
  const files: Record<string, string> = {};
  if (cache) for await (const entry of cache.pipe(extract())) files[entry.header.name] = await text(entry);
  return files;
};
const leaveDraft = async (siteId: string, files: Record<string, string>, asked = {}) =>
  (await openDraft(siteId, asked)).onCache?.(toTar(files));
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

const [picture, content] = ['astro/assets/a.webp', 'astro/data-store.json'];

test('a draft’s second build gets only the pictures of the first', async () => {
  const site = newSite();
  await (await open(site)).onCache?.(toTar({ [picture]: 'of the site', [content]: 'posts', 'astro/fonts/a': 'font' }));
  await leaveDraft(site, { [picture]: 'of the draft', 'astro/assets/b.webp': 'b', [content]: 'secret plans' });
  const both = { [picture]: 'of the draft', 'astro/assets/b.webp': 'b', [content]: 'posts', 'astro/fonts/a': 'font' };
  expect(await readDraft(site)).toEqual(both);
  for (const other of [{ executed: 'other code' }, { epoch: 1 }]) expect(await readDraft(site, other)).toEqual({});
  const withoutDraft = { [picture]: 'of the site', [content]: 'posts', 'astro/fonts/a': 'font' };
  expect(await readDraft(site, { id: 'dep_2' })).toEqual(withoutDraft);
  await removeSnapshots(store, 'dep_1');
  expect(await readDraft(site)).toEqual(withoutDraft);
});

test('only the same slot’s next draft gets the pictures of a shown one', async () => {
  const site = newSite();
  const files = { [picture]: 'made', [content]: 'secret plans' };
  for (const status of ['superseded', 'cancelled', 'failed'])
    await leaveDraft(site, files, { isLast: true, status, id: 'dep_2' });
  expect(await readDraft(site)).toEqual({});
  await leaveDraft(site, files, { isLast: true, status: 'ready', id: 'dep_2' });
  expect(await readDraft(site)).toEqual({ [picture]: 'made' });
  for (const other of [{ slot: 2 }, { executed: 'other code' }, { epoch: 1 }])
    expect(await readDraft(site, other)).toEqual({});
  expect(await read(site)).toBeUndefined();
});

test('an unreadable cache leaves a draft the readable ones', async () => {
  const site = newSite();
  await leave(site, 'x'.repeat(2_000));
  await leaveDraft(site, { [picture]: 'made' });
  expect(await readDraft(site)).toEqual({ [picture]: 'made' });
  const { onCache } = await openDraft(site);
  await expect(onCache?.(Readable.from([Buffer.from('x'.repeat(2_000))]))).rejects.toThrow();
  expect(await readDraft(site)).toEqual({ [picture]: 'made' });
});

test('a build that started before caches were dropped leaves none', async () => {
  const site = newSite();
  await leave(site, 'poison', { epoch: 1 });
  expect(await read(site, { epoch: 2 })).toBeUndefined();
});

test('caches that are not read close their files', async () => {
  const site = newSite();
  const large = Object.fromEntries(['a', 'b', 'c', 'd'].map((name) => [`astro/${name}`, 'x'.repeat(200_000)]));
  await (await open(site)).onCache?.(toTar(large));
  let file: Readable | undefined;
  const read = async (name: string) => (file = await store.caches.read(name));
  const from = { ...store, caches: { ...store.caches, read } };
  const draft = { id: 'dep_1', slot: 1, site: { id: site, cacheEpoch: 0 }, noCache: false };
  for (const opening of [
    () => open(site, { from }),
    () => draftCache(depsOf('building', 'image', from), draft, 'code', { isLast: false }),
  ]) {
    const { cache } = await opening();
    expect(file?.destroyed).toBe(false);
    cache?.destroy();
    await expect.poll(() => file?.destroyed).toBe(true);
  }
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
