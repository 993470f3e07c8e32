/**
 * Every process is killed at the edges of every step: what was promised is there, each publish ends, and no visitor sees a mix of
 * two versions. The long form is `KILLS=20 npm test -- test/acceptance/kills`; docs/campaigns.md has what it gave.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ownEngineMissing } from '../stack/engine.ts';
import { type Edge, edges } from './kills/edges.ts';
import { expectLive, expectShown, killAt } from './kills/round.ts';
import { startVisitor } from './kills/visitor.ts';
import {
  commitVersion,
  listLeftovers,
  listLost,
  openWorld,
  type Part,
  publishPatiently,
  startMachine,
  sweepOrphans,
  type World,
} from './kills/world.ts';

const rounds = Number(process.env.KILLS ?? 1);
/** Each process with the edge it begins at: the one that says most where there is but one round. */
const parts: [Part, string][] = [
  ['api', 'before the commit of accept'],
  ['worker', 'after the commit of store'],
  ['temporal', 'before the commit of send'],
  ['postgres', 'before the commit of live'],
  ['engine', 'before the commit of log'],
];

describe.skipIf(ownEngineMissing)('at whatever edge a process is killed', () => {
  let machine: Awaited<ReturnType<typeof startMachine>>;
  beforeAll(async () => {
    machine = await startMachine();
  }, 300_000);
  afterAll(() => machine?.stop(), 180_000);

  /** With two versions that were live, so that there is one to go back to. */
  async function prepare(part: Part): Promise<World> {
    const world = await openWorld(machine, `kills-${part}-${process.pid}`);
    onTestFinished(world.close);
    for (const version of ['zeroth', 'first']) {
      await commitVersion(world, version);
      const id = await publishPatiently(world);
      world.versions.set(id, version);
      await expectLive(world, id, version);
    }
    await expectShown(world);
    return world;
  }

  test.each(parts)(
    '%s: what was promised is there, and every visitor gets one version',
    {
      timeout: 300_000 + rounds * 300_000,
    },
    async (part, start) => {
      const world = await prepare(part);
      const from = edges.findIndex(({ name }) => name === start);
      const stop = startVisitor(world.stack, world.site.name);
      const recoveries: number[] = [];
      for (let round = 0; round < rounds; round++) {
        const edge = edges[(from + round) % edges.length] as Edge;
        recoveries.push(await killAt(world, part, edge, `${part}-${round}`));
        console.log(
          `${part} killed ${edge.name}: whole again ${Math.round(recoveries.at(-1) ?? 0)} ms after its restart`,
        );
      }
      const { sets, requests, faults } = await stop();
      // Printed and not asserted: it is a matter of the machine, and of what else it does.
      const slowest = Math.round(Math.max(...recoveries));
      console.log(
        `${part}: ${rounds} kills, slowest recovery ${slowest} ms, ${sets} sets of pages in ${requests} requests, ${faults.length} faults`,
      );
      expect(faults).toEqual([]);
      expect(await listLost(world)).toEqual([]);
      await sweepOrphans(world);
      await expect
        .poll(() => listLeftovers(world), { timeout: 60_000, interval: 250 })
        .toEqual({ unsent: 0, unfinished: 0, orphans: 0 });
    },
  );
});
