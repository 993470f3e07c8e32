/** One kill while a slot is published or expires, and the recovery. */
import { expect } from 'vitest';
import { visit } from '#test/stack/stack.ts';
import { committed, hold, type SlotEdge, withClient } from './edges.ts';
import { type Fixture, type Part, persist, prepareVersion, push, readRows, tipOf } from './fixture.ts';
import { expectLive, expectShown, newRow, standAndKill, until } from './round.ts';

const branch = 'preview/1';
const slotPath = ({ site }: Fixture) => `/v1/sites/${site.id}/previews/1`;
const readSlot = async (fixture: Fixture) => (await fixture.stack.api(slotPath(fixture))).body;

/** Kills the part at the edge. Answers the milliseconds from its restart until what was begun had ended. */
export async function killSlotAt(fixture: Fixture, part: Part, edge: SlotEdge, version: string): Promise<number> {
  const commit = await prepareVersion(fixture, version, branch);
  expect(await push(fixture, commit, branch)).toBe(true);
  await persist(fixture, slotPath(fixture), {});
  await until(
    'the draft is built',
    () => readSlot(fixture),
    ({ status, behind }) => status === 'draft' && !behind,
  );
  return edge.act === 'publish'
    ? await killPublish(fixture, part, edge, { commit, version })
    : await killExpiry(fixture, part, edge, commit);
}

async function killPublish(
  fixture: Fixture,
  part: Part,
  edge: SlotEdge,
  { commit, version }: { commit: string; version: string },
): Promise<number> {
  const path = `${slotPath(fixture)}/publish`;
  const known = (await readRows(fixture)).length;
  const promised = await standAndKill(fixture, part, edge.at, { kind: 'publish', path });
  await fixture.restart(part);
  const restarted = performance.now();
  const id = promised ?? (await newRow(fixture, known)) ?? (await persist(fixture, path, {})).body.id;
  fixture.versions.set(id, version);
  await expectLive(fixture, id, `${part} killed ${edge.name}`);
  const took = performance.now() - restarted;
  // The bytes are live and their commit is on main: both, whatever was killed between them.
  expect(await tipOf(fixture, 'main')).toBe(commit);
  await expectShown(fixture);
  expect(await readSlot(fixture)).toMatchObject({ status: 'draft', holds_work: false, behind: false });
  return took;
}

/** Three weeks pass for the slot's row; what is pushed stays, what is live is not touched. */
async function killExpiry(fixture: Fixture, part: Part, { at, name }: SlotEdge, commit: string): Promise<number> {
  const { databaseUrl } = fixture.stack;
  const { address } = await readSlot(fixture);
  const host = new URL(address).hostname.split('.')[0] ?? '';
  const live = (await readRows(fixture)).find(({ status }) => status === 'live')?.id;
  const id = await preview(fixture, `update preview set expires_at = expires_at - interval '22 days' where $`);
  const held = at.side === 'before' ? await hold(databaseUrl, at.move) : undefined;
  try {
    // A build that is asked for now has a life of its own, and ends the one whose time is over.
    const asking = persist(fixture, slotPath(fixture), {});
    if (held) await held.reached();
    else await committed(databaseUrl, at.move, id);
    await fixture.kill(part);
    if (held && (part === 'api' || part === 'worker')) await held.cut();
    await held?.release();
    await fixture.restart(part);
    const restarted = performance.now();
    await asking;
    const slot = await until(
      'the slot begins anew',
      () => readSlot(fixture),
      ({ status }) => status === 'draft',
    );
    expect({ name, same: slot.address === address }).toEqual({ name, same: false });
    await until(
      'the old host is closed',
      () => visit(fixture.stack, host, '/one/'),
      ({ status }) => status === 404,
    );
    const took = performance.now() - restarted;
    expect(await tipOf(fixture, branch)).toBe(commit);
    expect((await readRows(fixture)).find(({ status }) => status === 'live')?.id).toBe(live);
    return took;
  } finally {
    await held?.release();
  }
}

/** Changes the slot's present life in the database, and answers its id. */
async function preview({ stack, site }: Fixture, change: string): Promise<string> {
  const text = `${change.replace('$', 'site_id = $1 and removed_at is null')} returning id`;
  const { rows } = await withClient(stack.databaseUrl, (client) => client.query(text, [site.id]));
  return rows[0].id;
}
