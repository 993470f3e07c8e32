/**
 * @module-tag machines
 *
 * A first `npm start` that is ended in the middle of each of its steps, one after the other, and started again each time. The last start
 * completes. The long form ends it in all three ways, the short one in a random one.
 */
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Machine, makeMachine } from '#test/campaigns/machines/machine.ts';
import { type Materials, makeMaterials, offerDownloads } from '#test/campaigns/machines/materials.ts';
import { npmStart, type Start, visitDemo } from '#test/campaigns/machines/start.ts';
import { makeRunFolder, removeRunFolder } from '#test/stack/run-folder.ts';
import { until } from '#test/stack/until.ts';
import { isLong, seedOr } from './size.ts';

type Moment = { machine: Machine; start: Start };

/** In the order in which a start reaches them, with what shows that it is in the middle of one. */
const steps: Record<string, (moment: Moment) => boolean> = {
  'the download of Temporal': ({ machine }) => count(machine, '../home/.cache/frontage') > 0,
  'npm install': ({ machine }) => count(machine, 'node_modules') > 100,
  initdb: ({ machine }) => count(machine, '.frontage/postgres/data.new') > 0,
  'the sandbox image': ({ machine }) => count(machine, '.frontage/sandbox') > 0,
  'the migrations': ({ start }) => start.said().includes('✓ PostgreSQL'),
  // The owner, the site and the begin of its publish follow within a second.
  'the creation of the demo': ({ start }) => start.said().includes('✓ The worker'),
  'the publish of the demo': ({ start }) => start.said().includes('… The demo site:'),
};

/** Ends everything as a person or a machine does. */
const ways: Record<string, (moment: Moment) => Promise<void>> = {
  'Ctrl+C': async ({ machine, start }) => {
    await start.stop();
    await expect.poll(machine.processes).toEqual([]);
  },
  'SIGKILL of npm and its children': async ({ start }) => {
    await start.signal('SIGKILL');
    await start.isReady();
  },
  'a reboot': async ({ machine }) => {
    await machine.reboot();
    await offerDownloads(machine, materials, 'work');
  },
};

const isComplete = (start: Start) => start.said().includes('✓ Ready');
const drawn = seedOr(Math.floor(Date.now() / 1000)) % Object.keys(ways).length;
const folder = makeRunFolder();
let materials: Materials;

beforeAll(async () => {
  materials = await makeMaterials(folder);
}, 300_000);

afterAll(() => removeRunFolder(folder));

for (const [at, [way, end]] of Object.entries(ways).entries()) {
  if (!isLong && at !== drawn) continue;
  test(`a first start completes after it was ended in each step: ${way}`, async ({ onTestFinished }) => {
    const machine = await makeMachine({ asUser: true, npmCache: materials.npmCache, env: materials.trust });
    onTestFinished(() => machine.remove());
    await offerDownloads(machine, materials, 'work');
    for (const [step, isReached] of Object.entries(steps)) {
      const start = npmStart(machine);
      await until(
        () => start.hasEnded() || isReached({ machine, start }) || isComplete(start),
        (reached) => reached,
        900_000,
      );
      // What a start before did of it is not done again: a publish goes on when Temporal runs again.
      const moment = isComplete(start) ? 'after' : 'during';
      console.log(`${way} ${moment} ${step}, after ${start.seconds().toFixed(1)} s:\n${start.said()}`);
      expect(start.hasEnded(), start.report()).toBe(false);
      await end({ machine, start });
    }
    const last = npmStart(machine);
    expect(await last.isReady(), last.report()).toBe(true);
    console.log(`the last start:\n${last.said()}`);
    expect((await visitDemo(machine)).site).toMatchObject({ status: 200, body: expect.stringContaining('<html') });
    expect(last.said()).not.toContain('✗');
    await last.stop();
    await expect.poll(machine.processes).toEqual([]);
  }, 3_600_000);
}

function count(machine: Machine, path: string): number {
  const folder = join(machine.clone, path);
  return existsSync(folder) ? readdirSync(folder).length : 0;
}
