/** Backups while people work, each restored elsewhere: what was acknowledged before one began is in it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Load, openLoad } from './load.ts';
import { createWorld, openFolder, type World } from './world.ts';

/** `FRONTAGE_BACKUPS=20` for the long form. */
const rounds = Number(process.env.FRONTAGE_BACKUPS ?? 2);
const actsBetween = 4;

let world: World;
let load: Load;
let backups: Awaited<ReturnType<typeof openFolder>>;
beforeAll(async () => {
  world = await createWorld();
  load = await openLoad(world);
  backups = await openFolder();
});
afterAll(async () => {
  await backups?.remove();
  await load?.close();
  await world?.close();
});

test('backups that are taken under load hold all that was promised before them', {
  timeout: rounds * 60_000,
}, async () => {
  const stop = load.begin(100);
  const told: Record<string, unknown>[] = [];
  try {
    for (let round = 0; round < rounds; round++) {
      await expect.poll(() => load.promised(), { timeout: 60_000 }).toBeGreaterThan((round + 1) * 5 * actsBetween);
      const began = new Date();
      const manifest = await backups.create(world);
      const tookMs = Date.now() - began.getTime();
      const checked = await backups.check(world, manifest.name);
      lap('checked');
      const other = await createWorld();
      try {
        await backups.restore(other, manifest.name);
        const { promised, missing } = await load.missing(other, began);
        expect({ faults: checked.faults, spoilt: manifest.spoilt, missing }).toEqual({
          faults: [],
          spoilt: [],
          missing: [],
        });
        expect(promised).toBeGreaterThan(0);
        told.push({ promised, tookMs, blobs: checked.blobs, duringIt: load.promised() - promised });
      } finally {
        await other.close();
      }
    }
  } finally {
    await stop();
  }
  expect(world.unexpected()).toEqual([]);
  if (rounds > 2) console.log(JSON.stringify(told));
});
