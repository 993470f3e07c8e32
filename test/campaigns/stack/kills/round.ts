/** One kill: a publish, restore or push is stopped at a chosen moment, a process is killed, and recovery is awaited. */
import { randomInt } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { visit } from '#test/stack/stack.ts';
import { committed, type Edge, hold } from './edges.ts';
import {
  ask,
  commitVersion,
  type Fixture,
  type Part,
  prepareCommit,
  publishPatiently,
  push,
  type Row,
  readRows,
} from './fixture.ts';
import { addresses } from './visitor.ts';

const unfinished = ['queued', 'building', 'storing'];
const timeoutMs = 300_000;

/** Kills the part at the edge. Answers the milliseconds from its restart until what was begun had ended. */
export async function killAt(fixture: Fixture, part: Part, edge: Edge, version: string): Promise<number> {
  if (edge.act === 'push') return await killDuringPush(fixture, part, version);
  const rows = await readRows(fixture);
  const live = rows.find(({ status }) => status === 'live')?.id;
  const target = rows.find(({ status }) => status === 'retired')?.id;
  if (edge.act === 'publish') await commitVersion(fixture, version);
  const call: Call =
    edge.act === 'restore'
      ? { kind: 'restore', path: `/v1/deployments/${target}/restore`, deploymentId: target }
      : { kind: 'publish', path: `/v1/sites/${fixture.site.id}/publish` };
  const promised = await standAndKill(fixture, part, edge.at, call);
  await fixture.restart(part);
  const restarted = performance.now();
  if (edge.act === 'restore') {
    const now = (await untilSettled(fixture)).find(({ status }) => status === 'live')?.id;
    // Who was promised it sees it; what was not promised came to pass or did not.
    expect(promised ? [promised] : [live, target]).toContain(now);
  } else {
    const begun = promised ?? (await newRow(fixture, rows.length));
    const id = begun ?? (await publishPatiently(fixture));
    fixture.versions.set(id, version);
    await expectLive(fixture, id, `${part} killed ${edge.name}`);
  }
  const took = performance.now() - restarted;
  await expectShown(fixture);
  return took;
}

type Call = { kind: 'publish' | 'restore'; path: string; deploymentId?: string | undefined };

/** Answers the deployment, where the call was answered. */
export async function standAndKill(
  fixture: Fixture,
  part: Part,
  at: Edge['at'],
  { kind, path, deploymentId }: Call,
): Promise<string | undefined> {
  const { databaseUrl } = fixture.stack;
  if (!at) throw new Error('this edge is no place to stand on');
  if (at.side === 'after') {
    const answer = ask(fixture, kind, path);
    await committed(databaseUrl, at.move, deploymentId ?? (await answer) ?? '');
    await fixture.kill(part);
    return await answer;
  }
  const held = await hold(databaseUrl, at.move);
  try {
    const answer = ask(fixture, kind, path);
    await held.reached();
    await fixture.kill(part);
    if (part === 'api' || part === 'worker') await held.cut();
    await held.release();
    return await answer;
  } finally {
    await held.release();
  }
}

async function killDuringPush(fixture: Fixture, part: Part, version: string): Promise<number> {
  const commit = await prepareCommit(fixture, version);
  const pushing = push(fixture, commit);
  await delay(randomInt(0, 250));
  await fixture.kill(part);
  await pushing;
  await fixture.restart(part);
  const restarted = performance.now();
  await until(
    'the push is taken',
    () => push(fixture, commit),
    (taken) => taken,
  );
  const took = performance.now() - restarted;
  await commitVersion(fixture, version);
  const id = await publishPatiently(fixture);
  fixture.versions.set(id, version);
  await expectLive(fixture, id, `${part} killed during a push`);
  await expectShown(fixture);
  return took;
}

/** A publish that was taken and not promised: its row, if there is one. */
export async function newRow(fixture: Fixture, knownRows: number): Promise<string | undefined> {
  const rows = await until(
    'the rows can be read',
    () => readRows(fixture),
    () => true,
  );
  return rows.length > knownRows ? rows[0]?.id : undefined;
}

async function untilSettled(fixture: Fixture): Promise<Row[]> {
  const ended = (rows: Row[]) => !rows.some(({ status }) => unfinished.includes(status));
  return await until('all have ended', () => readRows(fixture), ended);
}

export async function expectLive(fixture: Fixture, id: string, why: string): Promise<void> {
  const rows = await untilSettled(fixture);
  const { status, error } = rows.find((row) => row.id === id) ?? {};
  expect({ why, status, error }).toEqual({ why, status: 'live', error: null });
  expect(rows.filter((row) => row.status === 'live')).toHaveLength(1);
}

/** Every address shows the version that is live. */
export async function expectShown(fixture: Fixture): Promise<void> {
  const live = (await readRows(fixture)).find(({ status }) => status === 'live')?.id ?? '';
  const words = `[${fixture.versions.get(live)}]`;
  for (const path of addresses) {
    const read = async () => (await visit(fixture.stack, fixture.site.name, path)).text;
    await until(`${path} shows ${words}`, read, (text) => text.includes(words));
  }
}

/** Reads until it is so; a read that fails is tried again. */
export async function until<T>(what: string, read: () => Promise<T>, so: (value: T) => boolean): Promise<T> {
  const end = performance.now() + timeoutMs;
  for (;;) {
    const found = await read().then(
      (value) => ({ value }),
      (error) => ({ error }),
    );
    if ('value' in found && so(found.value)) return found.value;
    if (performance.now() > end) throw new Error(`not so after ${timeoutMs} ms: ${what}; ${JSON.stringify(found)}`);
    await delay(50);
  }
}
