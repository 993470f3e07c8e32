/** The daily allowance of files: one row for an account and a day (UTC), moved in single statements, so that calls at once never pass it. */

import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';

/** The day of this moment, and when the next one begins. */
export function dayOf(now: Date): { day: string; resetsAt: Date } {
  const start = Math.floor(now.getTime() / dayMs) * dayMs;
  return { day: new Date(start).toISOString().slice(0, 10), resetsAt: new Date(start + dayMs) };
}

/** Takes so many files from the day's allowance, all or none. Answers whether they were there. */
export async function useQuota(
  em: EntityManager,
  { accountId, day, files, limit }: { accountId: string; day: string; files: number; limit: number },
): Promise<boolean> {
  if (files > limit) return false;
  const rows = await em.execute<unknown[]>(
    `insert into files_of_day as today (account_id, day, files) values (?, ?, ?)
     on conflict (account_id, day) do update set files = today.files + excluded.files
       where today.files + excluded.files <= ?
     returning files`,
    [accountId, day, files, limit],
  );
  return rows.length > 0;
}

/** Puts back what was taken for files that were not written in the end. */
export async function returnQuota(
  em: EntityManager,
  { accountId, day, files }: { accountId: string; day: string; files: number },
): Promise<void> {
  await em.execute('update files_of_day set files = files - ? where account_id = ? and day = ?', [
    files,
    accountId,
    day,
  ]);
}

/** How much of today's allowance is used, and when it begins anew. */
export async function quotaUsage(
  em: EntityManager,
  clock: Clock,
  accountId: string,
): Promise<{ used: number; resetsAt: Date }> {
  const { day, resetsAt } = dayOf(clock.now());
  const [row] = await em.execute<{ files: number }[]>(
    'select files from files_of_day where account_id = ? and day = ?',
    [accountId, day],
  );
  return { used: row?.files ?? 0, resetsAt };
}

/** Forgets the days that are long over. */
export async function sweepQuotas(em: EntityManager, clock: Clock): Promise<void> {
  const { day } = dayOf(new Date(clock.now().getTime() - 30 * dayMs));
  await em.execute('delete from files_of_day where day < ?', [day]);
}
