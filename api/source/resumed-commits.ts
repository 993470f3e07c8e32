/** Commits of calls that are sent again because their answer was lost. */
import type { ActedBy } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { Branch, Made, Repositories } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { recordCommit } from './commit-records.ts';
import type { Written } from './commits.ts';

/** A call with an idempotency key, by an id that its repetitions share. */
export type KeyedCall = { id: string; isResumed: boolean };

type Place = { site: Site; repository: Repository; branch: Branch; by: ActedBy };

/**
 * The commit that an earlier run of the call made; undefined if it made none. That run may have died before it
 * recorded the commit.
 */
export async function commitOfEarlierRun(
  em: EntityManager,
  { clock, repositories }: { clock: Clock; repositories: Repositories },
  callId: string,
  place: Place,
): Promise<Written | undefined> {
  const { site, repository, branch } = place;
  const made = await repositories.madeByCall(site.id, repository, branch, callId);
  if (!made) return undefined;
  const { commit } = made;
  const filesChanged = await countChanged(repositories, place, made);
  await em.transactional(async (tx) => {
    await tx.execute('select 1 from site where id = ? for update', [site.id]);
    const recorded = await tx.execute<unknown[]>(
      `select 1 from history_entry where site_id = ? and at > ? and action = 'repository.committed' and detail->>'commit' = ?`,
      [site.id, new Date(clock.now().getTime() - 2 * dayMs), commit],
    );
    if (recorded.length === 0) recordCommit(tx, clock, { ...place, source: 'api', commit, filesChanged });
  });
  return { repository, commit, filesChanged, changes: [] };
}

async function countChanged(
  repositories: Repositories,
  { site, repository }: Place,
  { commit, parent }: Made,
): Promise<number> {
  const before = parent === null ? [] : await repositories.listTree(site.id, repository, parent);
  const after = await repositories.listTree(site.id, repository, commit);
  const left = new Map(before.map(({ path, oid }) => [path, oid]));
  const written = after.filter(({ path, oid }) => {
    const isWritten = left.get(path) !== oid;
    left.delete(path);
    return isWritten;
  });
  return written.length + left.size;
}
