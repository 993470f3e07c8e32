/**
 * State transitions of a site under deletion. Its row says which one is next: with `delete_at` alone it waits and can
 * be restored, with `purged_at` too its parts are being removed, with `purged_at` alone it is gone.
 */
import { expireHoldsAndPayments } from '#db/bookings/holds.ts';
import { type Settled, settledAt } from '#db/deadlines.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { deletionDelayMs, nameReservedMs } from '#rules/periods.ts';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { blockOf } from './blocks.ts';
import { Site } from './site.ts';
import { lockSite } from './transitions.ts';

/**
 * Starts the deletion of an archived site, which the caller has locked. Its holds and open payments expire. `withAccount`:
 * the account is deleted at this time.
 */
export async function startDeletion(
  tx: EntityManager,
  clock: Clock,
  site: Site,
  { withAccount }: { withAccount?: Date } = {},
): Promise<void> {
  site.deleteAt = withAccount ?? new Date(clock.now().getTime() + deletionDelayMs);
  site.deletedWithAccount = withAccount !== undefined;
  startDeleteSite(tx, clock, site);
  await expireHoldsAndPayments(tx, clock, { site: site.id });
}

function startDeleteSite(tx: EntityManager, clock: Clock, { id, name, account }: Site): void {
  const about = { summary: `Delete the site ${name}`, site: id, account: account.id };
  startWorkflow(tx, clock, 'deleteSite', { siteId: id }, about);
}

/** Ends the deletion of a locked site, which is archived as before. */
export function cancelDeletion(tx: EntityManager, clock: Clock, site: Site): void {
  site.deleteAt = null;
  site.deletedWithAccount = false;
  signalWorkflow(tx, clock, 'deleteSite', { siteId: site.id }, 'moved');
}

/**
 * Begins the purge of a site that is due: from then on it is neither served nor readable. Returns `restored` where the
 * owner restored it, `blocked` while the operator blocks it, and `purging` until the purge has ended.
 */
export async function settleDeletion(em: EntityManager, clock: Clock, siteId: string): Promise<Settled> {
  const now = clock.now();
  return await em.transactional(async (tx) => {
    const site = await lockSite(tx, siteId);
    const { deleteAt, purgedAt } = site;
    if (!deleteAt) return settledAt(now, { status: purgedAt ? 'purged' : 'restored', endsAt: undefined });
    if (!purgedAt && deleteAt > now) return settledAt(now, { status: 'deleting', endsAt: deleteAt });
    if (!purgedAt && blockOf(site))
      return settledAt(now, { status: 'blocked', endsAt: new Date(now.getTime() + hourMs) });
    if (!purgedAt) recordAct(tx, clock, platformFor(site.account.id), 'site.purged', { site });
    // The pointer is named so that edges learn of the change.
    await tx.execute(
      'update site set purged_at = coalesce(purged_at, ?), live_deployment_id = live_deployment_id where id = ?',
      [now, siteId],
    );
    return settledAt(now, { status: 'purging', endsAt: undefined });
  });
}

/** Records that nothing is left to remove. A deletion of the account waits for this. */
export async function finishPurge(em: EntityManager, clock: Clock, siteId: string): Promise<void> {
  await em.transactional(async (tx) => {
    const { account } = await tx.findOneOrFail(Site, { id: siteId }, { populate: ['account'] });
    await tx.execute('update site set delete_at = null where id = ? and purged_at is not null', [siteId]);
    if (account.deleteAt) signalWorkflow(tx, clock, 'deleteAccount', { accountId: account.id }, 'moved');
  });
}

/** Sites whose purge should have ended: their workflow may be lost. */
export async function overdueDeletions(em: EntityManager, clock: Clock): Promise<Site[]> {
  return await em.find(Site, { deleteAt: { $lt: new Date(clock.now().getTime() - hourMs) } }, { limit: 500 });
}

/** Starts the workflow of each; running ones are unaffected. */
export async function restartDeletions(em: EntityManager, clock: Clock, sites: readonly Site[]): Promise<void> {
  await em.transactional(async (tx) => {
    for (const site of sites) startDeleteSite(tx, clock, site);
  });
}

/** Frees the names of sites that were purged long ago. No site can be called by an id. Returns how many. */
export async function freeNames(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - nameReservedMs);
  const freed = await em.execute<unknown[]>(
    'update site set name = id where purged_at < ? and delete_at is null and name <> id returning id',
    [before],
  );
  return freed.length;
}
