/** Backups under load, each restored elsewhere: everything acknowledged before its start is in it. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createFixture, type Fixture, openFolder, openInstallation } from '#test/backups/fixture.ts';
import { type Load, openLoad } from '#test/backups/load.ts';
import { sized } from './size.ts';

const rounds = sized({ short: 1, long: 20 });
const promisesBetween = 20;
// Everybody works while it is taken, and machines have others to do.
vi.setConfig({ testTimeout: 60_000 + rounds * 120_000, hookTimeout: 180_000 });

let fixture: Fixture;
let load: Load;
let backups: Awaited<ReturnType<typeof openFolder>>;
beforeAll(async () => {
  fixture = await createFixture();
  load = await openLoad(fixture);
  backups = await openFolder();
});
afterAll(async () => {
  await backups?.remove();
  await load?.close();
  await fixture?.close();
});

/** A backup that begins and ends while everybody works. */
async function underLoad() {
  const before = load.promised();
  const stop = load.begin(50);
  try {
    await expect.poll(() => load.promised() - before, { timeout: 120_000 }).toBeGreaterThanOrEqual(promisesBetween);
    const began = new Date();
    const manifest = await backups.create(fixture);
    return { began, manifest, tookMs: Date.now() - began.getTime() };
  } finally {
    await stop();
  }
}

async function round() {
  const { began, manifest, tookMs } = await underLoad();
  const { faults, blobs } = await backups.check(fixture, manifest.name);
  const other = await openInstallation();
  try {
    await backups.restore(other, manifest.name);
    const { promised, missing } = await load.missing(other, began);
    expect({ faults, corrupt: manifest.corrupt, missing }).toEqual({ faults: [], corrupt: [], missing: [] });
    return { promised, since: load.promised() - promised, tookMs, blobs };
  } finally {
    await other.close();
  }
}

test('backups taken under load contain everything promised before them', async () => {
  for (let count = 1; count <= rounds; count++) {
    const told = await round();
    expect(told.promised).toBeGreaterThanOrEqual(count * promisesBetween);
    // Those who worked while it was taken.
    expect(told.since).toBeGreaterThan(0);
    if (rounds > 1) console.log(JSON.stringify({ count, ...told }));
  }
});
