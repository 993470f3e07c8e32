/**
 * Which renderings have a workflow. Of each kind, an account has few at once, and the next starts when one ends: a call for
 * twenty screenshots starts no twenty workflows, and no account fills the workers, where accounts take turns.
 */
import type { EntityManager } from '#db/orm.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { RenderingKind, RenderingStatus } from './rendering.ts';

/** Of those that calls wait for, and as many of the others. A second screenshot waits in the worker for the browser of the first. */
const startedMax: Record<RenderingKind, number> = { screenshot: 2, card: 1, comparison: 1, checks: 1 };

/** What a workflow of each kind is called. */
const summaries: Record<RenderingKind, string> = {
  screenshot: 'Take a screenshot of a page',
  card: 'Take a small screenshot for a card',
  comparison: 'Compare pages with an earlier version',
  checks: 'Check pages in a browser',
};

/** After this time, one that has not begun is started again. */
const settlingMs = minuteMs;

const account = 'coalesce(site.account_id, sketch.account_id)';
const withOwner =
  'rendering left join site on site.id = rendering.site_id left join sketch on sketch.id = rendering.sketch_id';

type Unfinished = {
  id: string;
  kind: RenderingKind;
  status: RenderingStatus;
  site: string | null;
  isOld: boolean;
  place: number;
};

/**
 * Locks the renderings of the account of this one until the transaction ends: before its row is locked. Returns the account,
 * or undefined if the rendering is gone.
 */
export async function lockRenderings(tx: EntityManager, id: string): Promise<string | undefined> {
  return await lockOf(tx, `select ${account} as account from ${withOwner} where rendering.id = ?`, id);
}

/** The same before the row is inserted: it waits for no row of a transaction that has the lock. */
export async function lockNewRendering(
  tx: EntityManager,
  of: { site: string } | { sketch: string },
): Promise<string | undefined> {
  const [table, id] = 'site' in of ? ['site', of.site] : ['sketch', of.sketch];
  return await lockOf(tx, `select account_id as account from ${table} where id = ?`, id);
}

async function lockOf(tx: EntityManager, select: string, id: string): Promise<string | undefined> {
  const [owner] = await tx.execute<{ account: string }[]>(select, [id]);
  if (owner) await lockInTransaction(tx, `renderings of ${owner.account}`);
  return owner?.account;
}

/**
 * Starts those of the account that may be drawn now and have not begun; with `added` only that one, and old ones. The
 * caller has locked the account's renderings. A second start of one has no effect.
 */
export async function startNext(tx: EntityManager, clock: Clock, of: string, added?: string): Promise<void> {
  const unfinished = await tx.execute<Unfinished[]>(
    `select rendering.id, rendering.kind, rendering.status, rendering.site_id as site, rendering.created_at < ? as "isOld",
       row_number() over (partition by rendering.kind, rendering.asked or rendering.awaited
         order by rendering.status = 'running' desc, rendering.created_at, rendering.id)::int as place
     from ${withOwner} where rendering.finished_at is null and ${account} = ?`,
    [new Date(clock.now().getTime() - settlingMs), of],
  );
  for (const { id, kind, status, site, isOld, place } of unfinished) {
    const mayStart = status === 'queued' && place <= startedMax[kind];
    if (!mayStart || (added !== undefined && added !== id && !isOld)) continue;
    startWorkflow(tx, clock, 'renderPages', { renderingId: id }, { summary: summaries[kind], site: site ?? undefined });
  }
}

/** Starts those that nothing before them will start: that was deleted, or went to another account. */
export async function restartRenderings(em: EntityManager, clock: Clock): Promise<void> {
  const stalled = await em.execute<{ id: string }[]>(
    `select min(rendering.id) as id from ${withOwner}
     where rendering.finished_at is null and rendering.status = 'queued' and rendering.created_at < ? group by ${account}`,
    [new Date(clock.now().getTime() - settlingMs)],
  );
  for (const { id } of stalled) {
    await em.transactional(async (tx) => {
      const owner = await lockRenderings(tx, id);
      if (owner !== undefined) await startNext(tx, clock, owner);
    });
  }
}
