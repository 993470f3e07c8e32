/** A fault of one site is logged and shown to its visitors, and every other site is served. */
import { rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { renderManifest } from '#providers/manifest.ts';
import { blobPath } from '#providers/store/disk.ts';
import { ask, createFixture, type Fixture } from './fixture.ts';

let fixture: Fixture;
let port: number;
const blobs: Record<string, string> = {};

async function publishManifest(name: string, manifest: Buffer | string): Promise<string> {
  const siteId = await fixture.addSite(name);
  const { sha256 } = await fixture.store.put(Buffer.from(manifest));
  await fixture.point(siteId, await fixture.addDeployment(siteId, sha256));
  return sha256;
}

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.publish('well', { 'index.html': 'well' });
  const store = join(fixture.dir, 'store');
  await rm(blobPath(store, await publishManifest('lost', '\n')));
  await publishManifest('garbled', 'not a manifest');
  const evil = { sha256: (await fixture.store.put(Buffer.from('evil'))).sha256, bytes: 4 };
  await publishManifest(
    'climbing',
    renderManifest(
      ['/evil.test/index.html', '../index.html', '.git/config', 'good.html'].map((path) => ({ path, ...evil })),
    ),
  );
  await publishManifest('unhashed', renderManifest([{ path: 'index.html', sha256: '../../secret', bytes: 1 }]));
  for (const name of ['missing', 'short', 'onlyplain']) {
    const content = `${name} `.repeat(500);
    const blob = await fixture.store.put(Buffer.from(content), { compress: true });
    blobs[name] = blobPath(store, blob.sha256);
    await publishManifest(
      name,
      renderManifest([
        { path: 'index.html', sha256: blob.sha256, bytes: blob.bytes, encodings: ['br', 'gzip'] },
        { path: 'good.html', sha256: (await fixture.store.put(Buffer.from('good'))).sha256, bytes: 4 },
      ]),
    );
  }
  for (const suffix of ['', '.br', '.gz']) await rm(blobs.missing + suffix);
  await writeFile(blobs.short as string, 'short');
  for (const suffix of ['.br', '.gz']) await rm(blobs.onlyplain + suffix);
  ({ port } = await fixture.openEdge());
});
afterAll(() => fixture?.close());

describe.each([
  ['lost', 'whose manifest is gone'],
  ['garbled', 'whose manifest is invalid'],
  ['unhashed', 'whose manifest names no hash'],
  ['missing', 'whose bytes are gone'],
  ['short', 'whose bytes are truncated'],
])('%s, a site %s', (name) => {
  test('returns 503 with a page and a retry-after', async () => {
    const answer = await ask(port, '/', { host: `${name}.sites.test` });
    expect(answer.status).toBe(503);
    expect(answer.headers['retry-after']).toBe('5');
    expect(answer.headers['cache-control']).toBe('no-store');
    expect(answer.text).toContain('Back in a moment');
    expect(answer.text).not.toContain(fixture.dir);
  });

  test('is logged at most once a second', async () => {
    const host = `${name}.sites.test`;
    const lines = () => fixture.logged.filter((line) => (line as { host?: string }).host === host).length;
    const before = lines();
    await Promise.all(Array.from({ length: 50 }, () => ask(port, '/', { host })));
    expect(lines()).toBeGreaterThan(0);
    expect(lines() - before).toBeLessThan(5);
  });

  test('does not affect other sites', async () => {
    expect((await ask(port, '/', { host: 'well.sites.test' })).text).toBe('well');
  });
});

test('forbidden files of a manifest are not served', async () => {
  const host = 'climbing.sites.test';
  for (const path of ['//evil.test/', '//evil.test', '/../index.html', '/.git/config', '/']) {
    const answer = await ask(port, path, { host });
    const status = path.includes('..') ? 400 : 404;
    expect([path, answer.status, answer.headers.location]).toEqual([path, status, undefined]);
  }
  expect((await ask(port, '/good', { host })).status).toBe(200);
});

test('a file is served although another of the site is missing', async () => {
  expect((await ask(port, '/good', { host: 'missing.sites.test' })).text).toBe('good');
});

test('a missing compressed blob is replaced by the uncompressed one', async () => {
  const headers = { 'accept-encoding': 'br' };
  const answer = await ask(port, '/', { host: 'onlyplain.sites.test', headers });
  expect(answer.status).toBe(200);
  expect(answer.headers['content-encoding']).toBeUndefined();
  expect(answer.headers.etag).toMatch(/^"[0-9a-f]{64}"$/);
  expect(answer.text).toMatch(/^onlyplain /);
});

test('restored bytes are served again', async () => {
  const blob = await fixture.store.put(Buffer.from('missing '.repeat(500)), { compress: true });
  expect(blobPath(join(fixture.dir, 'store'), blob.sha256)).toBe(blobs.missing);
  expect((await ask(port, '/', { host: 'missing.sites.test' })).status).toBe(200);
});

test('the cache stays within its limit, and files beyond it are still served', async () => {
  const files = Object.fromEntries(Array.from({ length: 40 }, (_, n) => [`${n}.bin`, Buffer.alloc(200_000, n)]));
  await fixture.publish('wide', files);
  const small = await fixture.openEdge({ cacheBytes: 1024 * 1024 });
  for (let round = 0; round < 2; round++) {
    for (let n = 0; n < 40; n++) {
      const answer = await ask(small.port, `/${n}.bin`, { host: 'wide.sites.test' });
      expect(answer.body.equals(Buffer.alloc(200_000, n))).toBe(true);
    }
  }
});
