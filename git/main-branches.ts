/** Fast-forwards `main` of both repositories to the commits that a preview was built from. */
import type { BranchHeads } from '#db/deployments/deployment.ts';
import type { BranchMove, Repositories } from '#providers/repositories.ts';
import type { Repository } from '#rules/states.ts';

export const bothRepositories = ['source', 'content'] as const satisfies Repository[];

/**
 * Moves both `main` branches from these heads to these commits, or neither. A branch that an interrupted attempt has
 * already moved stays, even if others have added commits since. Returns false if one has diverged. `repositories` are
 * those of `withGitOutside`, which repeats this after a push that came in between.
 */
export async function fastForwardMain(
  repositories: Repositories,
  siteId: string,
  { from, to }: { from: BranchHeads; to: BranchHeads },
): Promise<boolean> {
  const moves: BranchMove[] = [];
  for (const repository of bothRepositories) {
    const [before, after] = [from[repository], to[repository]];
    const now = await repositories.head(siteId, repository);
    if (after === null || after === before) continue;
    if (now === before) moves.push({ repository, branch: 'main', from: before, to: after });
    else if (now === null || !(await repositories.contains(siteId, repository, now, after))) return false;
  }
  return moves.length === 0 || (await repositories.move(siteId, moves));
}
