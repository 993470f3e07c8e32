/** Whether a worker serves builds: each of them records its presence in a row, which API calls read. */

import type { Logger } from 'pino';
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';

const everyMs = 60_000;
/** If the last builder was seen within this time, publishes wait instead of being refused. */
const goneAfterMs = dayMs;

export async function recordBuilderPresence(em: EntityManager, clock: Clock): Promise<void> {
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

/** Records the presence of this builder each minute. Returns the function that stops it. */
export function announceBuilder(deps: { em(): EntityManager; clock: Clock; log: Logger }): () => void {
  const announce = () =>
    recordBuilderPresence(deps.em(), deps.clock).catch((error) =>
      deps.log.warn({ err: error }, 'the builder’s heartbeat could not be recorded'),
    );
  const timer = setInterval(() => void announce(), everyMs);
  return () => clearInterval(timer);
}
