/**
 * The records of a commit: written before git has it, in a transaction that ends afterwards. A row from before that transaction
 * finds a commit whose records are lost.
 */
import { recordCommit } from '#db/history/commits.ts';
import type { EntityManager } from '#db/orm.ts';
import { addPlannedCommit, removeRows } from '#git/accepted-pushes.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import type { Write } from './commits.ts';
import type { PlannedChange } from './content.ts';

/** Commits once the records of the commit are written, so that no commit lacks them. Null, without a record, when the branch moved. */
export async function commitWithRecords(
  em: EntityManager,
  deps: Deps,
  { site, repository, branch = 'main', source, by, message, record, callId }: Write & { callId: string },
  changes: readonly PlannedChange[],
  toGit: () => Promise<string | null>,
): Promise<string | null> {
  const { clock } = deps;
  const act = { repository, branch, by, source, filesChanged: changes.length };
  const row = await recorded(deps, addPlannedCommit(em, clock, callId, { ...act, siteId: site.id }));
  const tx = em.fork();
  const begun = async () => {
    await tx.begin();
    await removeRows(tx, [row]);
    const entry = recordCommit(tx, clock, { ...act, site, message, commit: '' });
    await record?.(tx, changes);
    await tx.flush();
    return entry;
  };
  try {
    const entry = await recorded(deps, begun());
    const commit = await toGit();
    if (commit === null) {
      await tx.rollback();
      await recorded(deps, removeRows(em, [row]));
      return null;
    }
    entry.detail = { ...entry.detail, commit };
    await recorded(deps, tx.commit());
    return commit;
  } catch (error) {
    if (tx.isInTransaction()) await tx.rollback().catch(() => {});
    throw error;
  }
}

/** Throws `storage_error` if the database fails. The same request succeeds later, whether or not git has the commit. */
export async function recorded<Result>({ log }: Pick<Deps, 'log'>, writing: Promise<Result>): Promise<Result> {
  try {
    return await writing;
  } catch (error) {
    if (error instanceof AppError) throw error;
    log.error({ err: error }, 'the records of a commit could not be written');
    throw errors.storage_error('The change could not be recorded.', {
      nextAction: 'Send the same request again. Nothing is saved twice.',
      cause: error,
    });
  }
}
