/** Limits the platform's searches of a library: its limit is per hour, so they are counted per minute, under one lock. */
import type { EntityManager } from '#db/orm.ts';
import { minuteMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';

/** Counts one search if the last hour has room for it. */
export async function countSearch(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  { library, perHour }: { library: string; perHour: number },
): Promise<boolean> {
  const now = clock.now().getTime();
  const minute = new Date(Math.floor(now / minuteMs) * minuteMs);
  // One minute more than an hour, because the oldest search may have been at the end of its minute.
  const hour = new Date(minute.getTime() - 60 * minuteMs);
  return await em.transactional(async (tx) => {
    await tx.execute(`select pg_advisory_xact_lock(hashtext('library_request'), hashtext(?))`, [library]);
    await tx.execute('delete from library_request where library = ? and minute < ?', [library, hour]);
    const [row] = await tx.execute<[{ requests: string | null }]>(
      'select sum(requests) as requests from library_request where library = ?',
      [library],
    );
    if (Number(row.requests ?? 0) >= perHour) return false;
    await tx.execute(
      `insert into library_request as known (library, minute, requests) values (?, ?, 1)
       on conflict (library, minute) do update set requests = known.requests + 1`,
      [library, minute],
    );
    return true;
  });
}
