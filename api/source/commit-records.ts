/** The records of a commit: written before git has it, in a transaction that ends afterwards. */
import type { HistoryEntry } from '#db/history/history-entry.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Branch } from '#providers/repositories.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError, errors } from '#runtime/errors.ts';
import type { Write, Written } from './commits.ts';
import type { PlannedChange } from './content.ts';

type Recorded = Pick<Write, 'site' | 'repository' | 'by' | 'source'> &
  Pick<Written, 'commit' | 'filesChanged'> & { branch: Branch };

/** The entry of a commit in the site's history. */
export function recordCommit(tx: EntityManager, clock: Clock, recorded: Recorded): HistoryEntry {
  const { site, repository, branch, by, source, commit, filesChanged } = recorded;
  const detail = { branch, commit, files_changed: filesChanged, source };
  return recordAct(tx, clock, by, 'repository.committed', {
    site,
    subject: { id: site.id, name: repository },
    detail,
  });
}

/** Commits once the records of the commit are written, so that no commit lacks them. Null, without a record, when the branch moved. */
export async function commitWithRecords(
  em: EntityManager,
  deps: Deps,
  { site, repository, branch = 'main', source, by, record }: Write,
  changes: readonly PlannedChange[],
  toGit: () => Promise<string | null>,
): Promise<string | null> {
  const tx = em.fork();
  const begun = async () => {
    await tx.begin();
    const act = { site, repository, branch, by, source, commit: '', filesChanged: changes.length };
    const entry = recordCommit(tx, deps.clock, act);
    await record?.(tx, changes);
    await tx.flush();
    return entry;
  };
  try {
    const entry = await recorded(deps, begun());
    const commit = await toGit();
    if (commit === null) {
      await tx.rollback();
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
