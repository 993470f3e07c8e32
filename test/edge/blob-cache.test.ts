/** Small blobs are cached up to a limit, and concurrent requests share one read. */
import { expect, test } from 'vitest';
import { blobKey, cachedBytesMax, createBlobCache } from '#edge/content/blob-cache.ts';
import type { Version } from '#edge/content/versions.ts';
import { createPathCache } from '#edge/routing/path-cache.ts';
import { createSiteRedirects } from '#edge/routing/redirects.ts';
import type { Store } from '#providers/store/store.ts';

const keyOf = (n: number) => blobKey(n.toString(16).padStart(64, '0'), 'identity');

function countingStore(size: number) {
  const reads: string[] = [];
  const readAll: Store['readAll'] = async (sha256) => {
    reads.push(sha256);
    return Buffer.alloc(size);
  };
  return { reads, store: { readAll } as Store };
}

test('cached bytes are not read again', async () => {
  const { reads, store } = countingStore(1_000);
  const bytes = createBlobCache(store, 1024 * 1024);
  expect(bytes.cached(keyOf(1))).toBeUndefined();
  await Promise.all(Array.from({ length: 50 }, () => bytes.load(keyOf(1))));
  expect(bytes.cached(keyOf(1))).toHaveLength(1_000);
  expect(reads).toHaveLength(1);
});

test('the cache stays within its limit, and evicts the least recently used', async () => {
  const bound = 10 * 1024 * 1024;
  const bytes = createBlobCache(countingStore(cachedBytesMax / 2).store, bound);
  for (let n = 0; n < 100; n++) await bytes.load(keyOf(n));
  const held = Array.from({ length: 100 }, (_, n) => bytes.cached(keyOf(n))?.length ?? 0);
  expect(held.reduce((sum, length) => sum + length)).toBeLessThanOrEqual(bound);
  expect(held.slice(-15).every((length) => length > 0)).toBe(true);
});

test('looked-up paths are cached within a limit, separately for each version', () => {
  let looked = 0;
  const version = (number: number, mark: string): Version => ({
    number,
    redirects: undefined,
    headers: undefined,
    weight: 0,
    files: {
      get(path) {
        looked += 1;
        return { path, sha256: mark.repeat(64), bytes: 1 };
      },
      within: () => [],
    },
  });
  const finding = createPathCache(100 * 2_048);
  const [one, two] = [version(1, 'a'), version(2, 'b')];
  const hashOf = (of: Version, path: string) => {
    const found = finding.find(of, path);
    return found && 'served' in found ? found.served.file.sha256[0] : undefined;
  };
  for (let n = 0; n < 10; n++) expect([hashOf(one, 'x'), hashOf(two, 'x')]).toEqual(['a', 'b']);
  expect(looked).toBe(2);
  for (let n = 0; n < 1_000; n++) finding.find(one, `page-${n}`);
  looked = 0;
  for (let n = 999; n >= 0; n--) finding.find(one, `page-${n}`);
  expect(looked).toBeGreaterThanOrEqual(900);
});

test('rules that other reads displace from the cache still reach their request', async () => {
  const slow = Promise.withResolvers<Buffer>();
  const rules = Buffer.from('[{"from":"/old","to":"/new","status":301}]');
  const readAll: Store['readAll'] = async (sha256) => (sha256 === 'slow' ? await slow.promise : rules);
  const redirects = createSiteRedirects({ readAll } as Store, 2_000);
  const table = redirects.load('slow');
  for (const sha256 of ['a', 'b', 'c']) await redirects.load(sha256);
  expect(redirects.cached('a')).toBeUndefined();
  slow.resolve(rules);
  expect((await table).find('old')).toMatchObject({ rule: { to: '/new' } });
});
