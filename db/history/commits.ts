/** Commits by calls in the history of a site. */
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { AssetSource, Repository } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { HistoryEntry } from './history-entry.ts';
import { type ActedBy, recordAct } from './recording.ts';

type RecordedCommit = {
  site: Site;
  repository: Repository;
  branch: string;
  by: ActedBy;
  source: AssetSource;
  commit: string;
  filesChanged: number;
  /** Unknown of a commit whose call was interrupted. */
  message?: string;
};

/** The entry of a commit in the site's history. */
export function recordCommit(tx: EntityManager, clock: Clock, recorded: RecordedCommit): HistoryEntry {
  const { site, repository, branch, by, source, commit, filesChanged, message } = recorded;
  const [subject] = message?.split('\n') ?? [];
  const detail = { branch, commit, files_changed: filesChanged, source, ...(subject ? { message: subject } : {}) };
  return recordAct(tx, clock, by, 'repository.committed', {
    site,
    subject: { id: site.id, name: repository },
    detail,
  });
}
