/**
 * @module-tag versitygw
 */
import { randomUUID } from 'node:crypto';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { blobLines } from '#operator/backups/check.ts';
import { removeBackups } from '#operator/backups/remove.ts';
import { openBackupRepository } from '#operator/backups/repository.ts';
import { type S3Server, startS3 } from '#test/store/s3-server.ts';
import { createFixture, type Fixture, openFolder, operator } from './fixture.ts';
import { type Load, openLoad } from './load.ts';

vi.setConfig({ testTimeout: 180_000, hookTimeout: 180_000 });

let s3: S3Server;
let fixture: Fixture;
let other: Fixture;
let load: Load;
const bucket = async () => {
  const name = `b-${randomUUID()}`;
  await mkdir(join(s3.dir, name));
  return `s3://${name}`;
};
beforeAll(async () => {
  s3 = await startS3();
  const { endpoint, credentials } = s3.address;
  const env = {
    FRONTAGE_S3_ENDPOINT: endpoint,
    FRONTAGE_S3_KEY_ID: credentials.accessKeyId,
    FRONTAGE_S3_SECRET: credentials.secretAccessKey,
  };
  fixture = await createFixture({ ...env, FRONTAGE_STORE: await bucket() });
  // Whoever has the store elsewhere names the server of the backups.
  const named = Object.entries(env).map(([name, value]) => [name.replace('_S3_', '_BACKUP_S3_'), value]);
  other = await createFixture(Object.fromEntries(named));
  load = await openLoad(fixture);
  for (const act of Object.values(load.acts)) await act();
});
afterAll(async () => {
  await load?.close();
  await other?.close();
  await fixture?.close();
  await s3?.remove();
});

test('a store in a bucket is backed up, and restored to disk unchanged', async () => {
  const inBucket = operator(`${await bucket()}/backups/here`);
  const manifest = await inBucket.create(fixture);
  expect(await inBucket.check(fixture)).toMatchObject({ faults: [], blobs: manifest.blobs.count });
  const place = await openBackupRepository(fixture.config, inBucket.where);
  const { value: file } = await blobLines(place.store, manifest).next();
  expect([await place.setAside(file.sha256), await place.setAside(file.sha256)]).toEqual([true, false]);
  expect((await inBucket.check(fixture)).faults).toEqual([`the file ${file.sha256} is damaged`]);
  await inBucket.create(fixture);
  expect((await inBucket.check(fixture)).faults).toEqual([]);
  await inBucket.restore(other);
  expect((await load.missing(other, new Date(manifest.at))).missing).toEqual([]);
  const page = async (in_: Fixture) => (await in_.visit(load.site.name, '/', { 'accept-encoding': 'br' })).text;
  await expect.poll(() => page(other)).toBe(await page(fixture));
  // A second one, and the first goes with what it alone had.
  const { name } = await inBucket.create(fixture);
  const removed = await removeBackups(place, (names) => names.filter((one) => one !== name));
  expect([removed.left, removed.parts > 0, await place.locks.list()]).toEqual([1, true, []]);
  expect((await inBucket.check(fixture, name)).faults).toEqual([]);
  const inFolder = await openFolder();
  try {
    const again = await inFolder.create(other);
    expect([again.blobs.count, again.corrupt]).toEqual([manifest.blobs.count, []]);
    expect((await inFolder.check(other)).faults).toEqual([]);
  } finally {
    await inFolder.remove();
  }
});
