/**
 * The daily quota of files: one row per account and day (UTC), updated in single statements, so concurrent calls never
 * exceed it.
 */

import type { EntityManager } from '#db/orm.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';

/** The current day, and when the next one starts. */
export function dayOf(now: Date): { day: string; resetsAt: Date } {
  const start = Math.floor(now.getTime() / dayMs) * dayMs;
  return { day: new Date(start).toISOString().slice(0, 10), resetsAt: new Date(start + dayMs) };
}

/** Uses this much of the day's quota, all or nothing. Returns whether it was available. */
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

/** Returns unused quota, of files that were not written. */
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

/** How much of today's quota is used, and when it resets. */
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

/** Deletes rows of past days after 30 days. */
export async function sweepQuotas(em: EntityManager, clock: Clock): Promise<void> {
  const { day } = dayOf(new Date(clock.now().getTime() - 30 * dayMs));
  await em.execute('delete from files_of_day where day < ?', [day]);
}
