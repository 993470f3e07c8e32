/** Commits of calls that are sent again because their answer was lost. */
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { completePush, rowOfCall } from '#git/accepted-pushes.ts';
import type { Branch, Made, Repositories } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';
import type { Written } from './commits.ts';

/** A call with an idempotency key, by an id that its repetitions share. */
export type KeyedCall = { id: string; isResumed: boolean };

type Place = { site: Site; repository: Repository; branch: Branch };

/**
 * The commit that an earlier run of the call made; undefined if it made none. That run may have died before it
 * recorded the commit.
 */
export async function commitOfEarlierRun(
  em: EntityManager,
  repositories: Repositories,
  callId: string,
  place: Place,
): Promise<Written | undefined> {
  const { site, repository, branch } = place;
  const made = await repositories.madeByCall(site.id, repository, branch, callId);
  if (!made) return undefined;
  await em.transactional((tx) => completePush(tx, repositories, [rowOfCall(callId, branch)]));
  const filesChanged = await countChanged(repositories, place, made);
  return { repository, commit: made.commit, filesChanged, changes: [] };
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
