/** Whether anybody is there to build: workers say that they serve builds, and readers judge by when one last did. */
import type { Logger } from 'pino';
import type { EntityManager } from '#db/orm.ts';
import type { Clock } from '#runtime/clock.ts';

const everyMs = 60_000;
/** A builder that restarts, or is away for a night, refuses no publish: those wait for it. */
const goneAfterMs = 24 * 3600_000;

/** Says that builds are served, now. */
export async function recordBuilder(em: EntityManager, clock: Clock): Promise<void> {
  await em.execute(
    `insert into capacity (name, seen_at) values ('builds', ?)
     on conflict (name) do update set seen_at = greatest(capacity.seen_at, excluded.seen_at)`,
    [clock.now()],
  );
}

/** Whether a builder was seen within the last day. */
export async function hasBuilder(em: EntityManager, clock: Clock): Promise<boolean> {
  const since = new Date(clock.now().getTime() - goneAfterMs);
  const rows = await em.execute(`select 1 from capacity where name = 'builds' and seen_at > ?`, [since]);
  return rows.length > 0;
}

/** Says it each minute until the answered function is called; a time that fails is followed by the next. */
export function startBuilderHeartbeat(deps: { em(): EntityManager; clock: Clock; log: Logger }): () => void {
  const announce = () =>
    recordBuilder(deps.em(), deps.clock).catch((error) =>
      deps.log.warn({ err: error }, 'the database was not told that builds are served'),
    );
  const timer = setInterval(() => void announce(), everyMs);
  return () => clearInterval(timer);
}
