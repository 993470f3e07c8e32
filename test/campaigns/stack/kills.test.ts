/**
 * Every process is killed at the edges of every step: what was promised is there, each publish ends, and no visitor sees a mix of
 * two versions. docs/history/campaigns.md has what the long form gave.
 */
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { sized } from '#test/campaigns/size.ts';
import { type Edge, edges, type SlotEdge, slotEdges } from './kills/edges.ts';
import {
  commitVersion,
  type Fixture,
  listLeftovers,
  listLost,
  openFixture,
  type Part,
  publishPatiently,
  startMachine,
  sweepOrphans,
} from './kills/fixture.ts';
import { expectLive, expectShown, killAt } from './kills/round.ts';
import { killSlotAt } from './kills/slots.ts';
import { startVisitor } from './kills/visitor.ts';

const rounds = sized({ short: 1, long: 20 });
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

describe('a process is killed at any moment', { tags: 'dockerd' }, () => {
  let machine: Awaited<ReturnType<typeof startMachine>>;
  beforeAll(async () => {
    machine = await startMachine();
  }, 300_000);
  let shared: Promise<Fixture> | undefined;
  afterAll(async () => {
    await (await shared)?.close();
    await machine?.stop();
  }, 180_000);

  /** The short form kills all about one site; the long one would meet the caps of its owner. */
  async function prepare(what: string): Promise<Fixture> {
    if (rounds === 1) {
      shared ??= prepareAnew('kills');
      return await shared;
    }
    const fixture = await prepareAnew(what);
    onTestFinished(fixture.close);
    return fixture;
  }

  /** With two versions that were live, so that there is one to go back to. */
  async function prepareAnew(what: string): Promise<Fixture> {
    const fixture = await openFixture(machine, `${what}-${process.pid}`);
    for (const version of ['zeroth', 'first']) {
      await commitVersion(fixture, version);
      const id = await publishPatiently(fixture);
      fixture.versions.set(id, version);
      await expectLive(fixture, id, version);
    }
    await expectShown(fixture);
    return fixture;
  }

  async function kills(
    fixture: Fixture,
    part: Part,
    names: readonly string[],
    kill: (at: number, version: string) => Promise<number>,
  ): Promise<void> {
    const stop = startVisitor(fixture.stack, fixture.site.name);
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
    expect(await listLost(fixture)).toEqual([]);
    await sweepOrphans(fixture);
    await expect
      .poll(() => listLeftovers(fixture), { timeout: 60_000, interval: 250 })
      .toEqual({ unsent: 0, unfinished: 0, orphans: 0 });
  }
  const timeout = 300_000 + rounds * 300_000;

  test.each(parts)('%s: promises are kept, and every visitor gets one version', { timeout }, async (part, start) => {
    const fixture = await prepare(`kills-${part}`);
    const from = edges.findIndex(({ name }) => name === start);
    const turned = [...edges.slice(from), ...edges.slice(0, from)];
    const names = turned.map(({ name }) => name);
    await kills(fixture, part, names, (at, version) => killAt(fixture, part, turned[at] as Edge, version));
  });

  test.each(slotParts)(
    '%s: slot work is live or in the slot, and expired drafts are gone',
    { timeout },
    async (part) => {
      const fixture = await prepare(`slots-${part}`);
      const names = slotEdges.map(({ name }) => name);
      await kills(fixture, part, names, (at, version) => killSlotAt(fixture, part, slotEdges[at] as SlotEdge, version));
    },
  );
});
