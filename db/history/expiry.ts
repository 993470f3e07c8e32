/** The history is kept for a year. */
import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';

const keptMs = 365 * dayMs;
/** Few enough for one statement. */
const batch = 10_000;

/** Deletes entries that are older than a year. Returns how many. */
export async function sweepHistory(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - keptMs);
  const old = 'select id from history_entry where at < ? limit ?';
  for (let deleted = 0; ; ) {
    const rows = await em.execute<unknown[]>(`delete from history_entry where id in (${old}) returning 1`, [
      before,
      batch,
    ]);
    deleted += rows.length;
    if (rows.length < batch) return deleted;
  }
}
