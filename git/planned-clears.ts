/**
 * Clears of preview slots whose process was killed after git had removed a branch. A row from before then has what the
 * history lacks.
 */
import { Deployment } from '#db/deployments/deployment.ts';
import { recordCleared } from '#db/history/previews.ts';
import { type ActedBy, person } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { clearPreview } from '#db/previews/transitions.ts';
import { lockSite } from '#db/sites/transitions.ts';
import type { Branch } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';

type OfSlot = { siteId: string; branch: Branch };
type PlannedClear = OfSlot & { repository: Repository; from: string; by: ActedBy; discarded: boolean };

/** Writes a row for the clear that is about to remove the branch. Returns its id. */
export async function addPlannedClear(
  em: EntityManager,
  clock: Clock,
  { siteId, branch, repository, from, by, discarded }: PlannedClear,
): Promise<string> {
  const { kind, name } = by.via ?? person;
  const id = `${newId('hist')} ${branch}`;
  await em.execute(
    `insert into accepted_push (id, accepted_at, site_id, repository, branch, from_commit, to_commit, account_id, via_kind, via_name, discarded)
     values (?, ?, ?, ?, ?, ?, '', ?, ?, ?, ?)`,
    [id, clock.now(), siteId, repository, branch, from, by.accountId, kind, name, discarded],
  );
  return id;
}

/** Whether a clear of the slot is running, or was killed and is not complete yet. */
export async function isClearPlanned(em: EntityManager, { siteId, branch }: OfSlot): Promise<boolean> {
  const rows = await em.execute<unknown[]>(
    'select 1 from accepted_push where site_id = ? and branch = ? and discarded is not null limit 1',
    [siteId, branch],
  );
  return rows.length > 0;
}

/**
 * Removes the rows of other clears of the slot, once the history has an entry for the removed branch: those of processes that
 * were killed before git acted. A row that is locked belongs to a clear that is running.
 */
export async function removePlannedClears(tx: EntityManager, { siteId, branch }: OfSlot): Promise<void> {
  await tx.execute(
    `delete from accepted_push where id in (select id from accepted_push
       where site_id = ? and branch = ? and discarded is not null order by id for update skip locked)`,
    [siteId, branch],
  );
}

/**
 * Does the rest of a clear that has removed the branch, and records it. A draft that was requested afterwards stays. `clock`
 * has the time of the clear.
 */
export async function completeClear(
  tx: EntityManager,
  clock: Clock,
  { siteId, branch, by, discarded }: Omit<PlannedClear, 'repository' | 'from'>,
): Promise<void> {
  const site = await lockSite(tx, siteId);
  const slot = Number(branch.replace('preview/', ''));
  const later = { site, slot, kind: 'draft', createdAt: { $gt: clock.now() } } as const;
  if ((await tx.count(Deployment, later)) === 0) await clearPreview(tx, clock, site, slot);
  recordCleared(tx, clock, by, { site, slot, discarded });
  await removePlannedClears(tx, { siteId, branch });
}
