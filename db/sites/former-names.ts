/** Names that sites had. Their hosts redirect to the site, and no other site gets them for 90 days. */

import type { EntityManager } from '#db/orm.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { formerNameMs } from '#rules/periods.ts';
import { dayMs } from '#rules/time.ts';

export type FormerName = { name: string; until: Date };

/**
 * Locks these names until the transaction ends: of a creation and a rename that want the same one, the second sees what
 * the first has done.
 */
export async function lockNames(tx: EntityManager, names: readonly string[]): Promise<void> {
  for (const name of names.toSorted()) await lockInTransaction(tx, `site name ${name}`);
}

/** The former names that the site keeps now, the one that is free first at the beginning. */
export async function formerNamesOf(em: EntityManager, now: Date, siteId: string): Promise<FormerName[]> {
  const rows = await em.execute<{ name: string; until: string | Date }[]>(
    'select name, until from former_name where site_id = ? and ended_at is null and until > ? order by until, id',
    [siteId, now],
  );
  return rows.map(({ name, until }) => ({ name, until: new Date(until) }));
}

/** The site that keeps this former name now. */
export async function keeperOf(em: EntityManager, now: Date, name: string): Promise<string | undefined> {
  const [row] = await em.execute<{ site_id: string }[]>(
    'select site_id from former_name where name = ? and ended_at is null and until > ?',
    [name, now],
  );
  return row?.site_id;
}

/** When the site was renamed after `since`, the latest first. */
export async function renamesSince(em: EntityManager, siteId: string, since: Date): Promise<Date[]> {
  const rows = await em.execute<{ renamed_at: string | Date }[]>(
    'select renamed_at from former_name where site_id = ? and renamed_at > ? order by renamed_at desc, id desc',
    [siteId, since],
  );
  return rows.map((row) => new Date(row.renamed_at));
}

/** Records that the site gives up `from`, and takes back `to` if it was one of its former names. The names are locked. */
export async function recordRename(
  tx: EntityManager,
  now: Date,
  siteId: string,
  { from, to }: { from: string; to: string },
): Promise<void> {
  await tx.execute('delete from former_name where name in (?, ?) and ended_at is null and until <= ?', [from, to, now]);
  await tx.execute('update former_name set ended_at = ? where name = ? and ended_at is null', [now, to]);
  await tx.execute('insert into former_name (site_id, name, renamed_at, until) values (?, ?, ?, ?)', [
    siteId,
    from,
    now,
    new Date(now.getTime() + formerNameMs),
  ]);
}

/** Deletes names that are free again, and those that were taken back when they count as a rename no more. */
export async function sweepFormerNames(em: EntityManager, now: Date): Promise<number> {
  const dayAgo = new Date(now.getTime() - dayMs);
  const gone = await em.execute<unknown[]>(
    'delete from former_name where until <= ? or (ended_at is not null and renamed_at <= ?) returning id',
    [now, dayAgo],
  );
  return gone.length;
}
