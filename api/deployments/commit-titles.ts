/** The title of the newest commit of each version, if the version before does not have it. */
import type { Repository } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';

type Version = { id: string; source_commit: string | null; content_commit: string | null };

/** The newest commits of a repository that are read, in one call. */
const commitsRead = 500;

/** By the id of the version. `versions`: newest first. A version without a new commit has no title. */
export async function commitTitles(
  deps: Deps,
  siteId: string,
  versions: readonly Version[],
): Promise<ReadonlyMap<string, string>> {
  const titles = new Map<string, string>();
  for (const repository of ['source', 'content'] as const) {
    const subjects = await subjectsOf(deps, siteId, repository, versions);
    let before: string | null = null;
    for (const version of versions.toReversed()) {
      const commit = commitIn(version, repository);
      const subject = commit === null || commit === before ? undefined : subjects.get(commit);
      if (subject !== undefined && !titles.has(version.id)) titles.set(version.id, subject);
      before = commit ?? before;
    }
  }
  return titles;
}

async function subjectsOf(
  { repositories }: Deps,
  siteId: string,
  repository: Repository,
  versions: readonly Version[],
): Promise<ReadonlyMap<string, string>> {
  const to = versions.map((one) => commitIn(one, repository)).find((one) => one !== null);
  if (!repositories || !to) return new Map();
  const commits = await repositories.commits(siteId, repository, { from: null, to, limit: commitsRead });
  return new Map(commits.map(({ sha, subject }) => [sha, subject]));
}

const commitIn = (version: Version, repository: Repository): string | null =>
  repository === 'source' ? version.source_commit : version.content_commit;
