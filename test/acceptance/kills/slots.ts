/** One kill while a slot is published or its time runs out; then all is waited for again. */
import { expect } from 'vitest';
import { visit } from '#test/stack/stack.ts';
import { committed, hold, type SlotEdge, withClient } from './edges.ts';
import { expectLive, expectShown, newRow, standAndKill, until } from './round.ts';
import { type Part, persist, prepareVersion, push, readRows, tipOf, type World } from './world.ts';

const branch = 'preview/1';
const slotPath = ({ site }: World) => `/v1/sites/${site.id}/previews/1`;
const readSlot = async (world: World) => (await world.stack.api(slotPath(world))).body;

/** Kills the part at the edge. Answers the milliseconds from its restart until what was begun had ended. */
export async function killSlotAt(world: World, part: Part, edge: SlotEdge, version: string): Promise<number> {
  const commit = await prepareVersion(world, version, branch);
  expect(await push(world, commit, branch)).toBe(true);
  await persist(world, slotPath(world), {});
  await until(
    'the draft is built',
    () => readSlot(world),
    ({ status, behind }) => status === 'draft' && !behind,
  );
  return edge.act === 'publish'
    ? await killPublish(world, part, edge, { commit, version })
    : await killExpiry(world, part, edge, commit);
}

async function killPublish(
  world: World,
  part: Part,
  edge: SlotEdge,
  { commit, version }: { commit: string; version: string },
): Promise<number> {
  const path = `${slotPath(world)}/publish`;
  const known = (await readRows(world)).length;
  const promised = await standAndKill(world, part, edge.at, { kind: 'publish', path });
  await world.restart(part);
  const restarted = performance.now();
  const id = promised ?? (await newRow(world, known)) ?? (await persist(world, path, {})).body.id;
  world.versions.set(id, version);
  await expectLive(world, id, `${part} killed ${edge.name}`);
  const took = performance.now() - restarted;
  // The bytes are live and their commit is on main: both, whatever was killed between them.
  expect(await tipOf(world, 'main')).toBe(commit);
  await expectShown(world);
  expect(await readSlot(world)).toMatchObject({ status: 'draft', holds_work: false, behind: false });
  return took;
}

/** Three weeks pass for the slot's row; what is pushed stays, what is live is not touched. */
async function killExpiry(world: World, part: Part, { at, name }: SlotEdge, commit: string): Promise<number> {
  const { databaseUrl } = world.stack;
  const { address } = await readSlot(world);
  const host = new URL(address).hostname.split('.')[0] ?? '';
  const live = (await readRows(world)).find(({ status }) => status === 'live')?.id;
  const id = await preview(world, `update preview set expires_at = expires_at - interval '22 days' where $`);
  const held = at.side === 'before' ? await hold(databaseUrl, at.move) : undefined;
  try {
    // A build that is asked for now has a life of its own, and ends the one whose time is over.
    const asking = persist(world, slotPath(world), {});
    if (held) await held.reached();
    else await committed(databaseUrl, at.move, id);
    await world.kill(part);
    if (held && (part === 'api' || part === 'worker')) await held.cut();
    await held?.release();
    await world.restart(part);
    const restarted = performance.now();
    await asking;
    const slot = await until(
      'the slot begins anew',
      () => readSlot(world),
      ({ status }) => status === 'draft',
    );
    expect({ name, same: slot.address === address }).toEqual({ name, same: false });
    await until(
      'the old host is closed',
      () => visit(world.stack, host, '/one/'),
      ({ status }) => status === 404,
    );
    const took = performance.now() - restarted;
    expect(await tipOf(world, branch)).toBe(commit);
    expect((await readRows(world)).find(({ status }) => status === 'live')?.id).toBe(live);
    return took;
  } finally {
    await held?.release();
  }
}

/** Changes the slot's present life in the database, and answers its id. */
async function preview({ stack, site }: World, change: string): Promise<string> {
  const text = `${change.replace('$', 'site_id = $1 and removed_at is null')} returning id`;
  const { rows } = await withClient(stack.databaseUrl, (client) => client.query(text, [site.id]));
  return rows[0].id;
}
