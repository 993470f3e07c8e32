/**
 * Which workers serve builds, and in which sandboxes: each records its presence every minute, and API calls read it.
 * The row `builds` belongs to all of them; each also has one of its own.
 */
import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';

/** `slots`: how many builds it runs at once. */
type Builder = { id: string; sandbox: string; slots: number };

const everyMs = 60_000;
/** If the last builder was seen within this time, publishes wait instead of being refused. */
const goneAfterMs = dayMs;
/** A builder that has not recorded its presence for this long counts as stopped. */
const absentAfterMs = 3 * everyMs;

export async function recordBuilderPresence(em: EntityManager, clock: Clock, builder: Builder): Promise<void> {
  const now = clock.now();
  await em.execute(
    `insert into capacity (name, seen_at, sandbox, slots) values ('builds', ?, null, null), (?, ?, ?, ?)
     on conflict (name) do update set
       seen_at = greatest(capacity.seen_at, excluded.seen_at), sandbox = excluded.sandbox, slots = excluded.slots`,
    [now, rowOf(builder), now, builder.sandbox, builder.slots],
  );
}

const rowOf = ({ id }: Builder) => `builder ${id}`;

/** Whether a builder was seen within the last day. */
export async function hasBuilder(em: EntityManager, clock: Clock): Promise<boolean> {
  const since = new Date(clock.now().getTime() - goneAfterMs);
  const rows = await em.execute(`select 1 from capacity where name = 'builds' and seen_at > ?`, [since]);
  return rows.length > 0;
}

/** The kinds of sandboxes of the builders that are present. */
export async function presentSandboxes(em: EntityManager, clock: Clock): Promise<string[]> {
  const since = new Date(clock.now().getTime() - absentAfterMs);
  const rows = await em.execute<{ sandbox: string }[]>(
    `select distinct sandbox from capacity where sandbox is not null and seen_at > ?`,
    [since],
  );
  return rows.map(({ sandbox }) => sandbox);
}

/**
 * The slots of the builders that are present; if none is, of those that were killed within the last day. At least one:
 * the first build waits for a worker, and others wait for their turn.
 */
export async function buildSlots(em: EntityManager, clock: Clock): Promise<number> {
  const since = new Date(clock.now().getTime() - absentAfterMs);
  // Workers of an earlier version record no slots.
  const [row] = await em.execute<{ slots: string }[]>(
    `select coalesce(sum(coalesce(slots, 1)) filter (where seen_at > ?), sum(coalesce(slots, 1)), 1) as slots
     from capacity where sandbox is not null`,
    [since],
  );
  return Number(row?.slots);
}

/** Records the presence of a builder now and each minute, and lets waiting builds start. Returns the function that withdraws it. */
export async function announceBuilder(
  deps: { em(): EntityManager; clock: Clock; log: Logger },
  kind: Omit<Builder, 'id'>,
): Promise<() => Promise<void>> {
  const builder = { id: randomUUID(), ...kind };
  const unrecorded = (error: unknown) => deps.log.warn({ err: error }, 'the builder’s presence could not be recorded');
  await recordBuilderPresence(deps.em(), deps.clock, builder);
  await removeLostBuilders(deps);
  let recording: Promise<void> | undefined;
  const timer = setInterval(() => {
    recording = recordBuilderPresence(deps.em(), deps.clock, builder).catch(unrecorded);
  }, everyMs);
  return async () => {
    clearInterval(timer);
    await recording;
    await deps
      .em()
      .execute(`delete from capacity where name = ?`, [rowOf(builder)])
      .catch(unrecorded);
  };
}

/** Rows of killed workers. */
async function removeLostBuilders({ em, clock }: { em(): EntityManager; clock: Clock }): Promise<void> {
  const before = new Date(clock.now().getTime() - goneAfterMs);
  await em().execute(`delete from capacity where sandbox is not null and seen_at < ?`, [before]);
}
