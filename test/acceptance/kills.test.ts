/**
 * Every process is killed at the edges of every step: what was promised is there, each publish ends, and no visitor sees a mix of
 * two versions. The long form is `KILLS=20 npm test -- test/acceptance/kills`; docs/history/campaigns.md has what it gave.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { ownEngineMissing } from '#test/stack/engine.ts';
import { type Edge, edges, type SlotEdge, slotEdges } from './kills/edges.ts';
import { expectLive, expectShown, killAt } from './kills/round.ts';
import { killSlotAt } from './kills/slots.ts';
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
/** Between git and the database there is the worker alone; the long form kills the others too. */
const slotParts: Part[] = rounds > 1 ? ['worker', 'api', 'temporal', 'postgres'] : ['worker'];

describe.skipIf(ownEngineMissing)('at whatever edge a process is killed', () => {
  let machine: Awaited<ReturnType<typeof startMachine>>;
  beforeAll(async () => {
    machine = await startMachine();
  }, 300_000);
  afterAll(() => machine?.stop(), 180_000);

  let shared: Promise<World> | undefined;
  afterAll(() => shared?.then((world) => world.close()));

  /** The short form kills all about one site; the long one would meet the caps of its owner. */
  async function prepare(what: string): Promise<World> {
    if (rounds === 1) {
      shared ??= prepareAnew('kills');
      return await shared;
    }
    const world = await prepareAnew(what);
    onTestFinished(world.close);
    return world;
  }

  /** With two versions that were live, so that there is one to go back to. */
  async function prepareAnew(what: string): Promise<World> {
    const world = await openWorld(machine, `${what}-${process.pid}`);
    for (const version of ['zeroth', 'first']) {
      await commitVersion(world, version);
      const id = await publishPatiently(world);
      world.versions.set(id, version);
      await expectLive(world, id, version);
    }
    await expectShown(world);
    return world;
  }

  async function kills(
    world: World,
    part: Part,
    names: readonly string[],
    kill: (at: number, version: string) => Promise<number>,
  ): Promise<void> {
    const stop = startVisitor(world.stack, world.site.name);
    const recoveries: number[] = [];
    for (let round = 0; round < rounds; round++) {
      const at = round % names.length;
      recoveries.push(await kill(at, `${names[at]}, ${part} ${round}`));
      console.log(
        `${part} killed ${names[at]}: whole again ${Math.round(recoveries.at(-1) ?? 0)} ms after its restart`,
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
  }
  const timeout = 300_000 + rounds * 300_000;

  test.each(parts)(
    '%s: what was promised is there, and every visitor gets one version',
    { timeout },
    async (part, start) => {
      const world = await prepare(`kills-${part}`);
      const from = edges.findIndex(({ name }) => name === start);
      const turned = [...edges.slice(from), ...edges.slice(0, from)];
      const names = turned.map(({ name }) => name);
      await kills(world, part, names, (at, version) => killAt(world, part, turned[at] as Edge, version));
    },
  );

  test.each(slotParts)(
    '%s: the work of a slot is on the site with its bytes, or in the slot, and a draft that ran out is gone',
    { timeout },
    async (part) => {
      const world = await prepare(`slots-${part}`);
      const names = slotEdges.map(({ name }) => name);
      await kills(world, part, names, (at, version) => killSlotAt(world, part, slotEdges[at] as SlotEdge, version));
    },
  );
});
