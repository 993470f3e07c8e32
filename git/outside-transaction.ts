/** What is slow in git, done while a transaction that needs it holds no row lock and no database connection. */
import { setTimeout as pause } from 'node:timers/promises';
import type { Repositories } from '#providers/repositories.ts';

const triesMax = 40;
const pauseMs = 50;

/** Ends a transaction, so that `work` runs without it. */
class NeedsGit extends Error {
  readonly work: () => Promise<unknown>;
  constructor(work: () => Promise<unknown>) {
    super('the transaction is repeated after git has answered');
    this.work = work;
  }
}

/**
 * Runs `act`, a whole transaction, with these repositories. Which commits contain which never changes, so `contains`
 * only looks up what git has answered: an unknown answer rolls the transaction back, git is asked, and the transaction
 * is repeated on the branches as they are then. The same happens, after a pause, when a push prevents `move`. Branches
 * that `act` moved before stay moved. Throws `exhausted` if pushes keep moving the branches.
 */
export async function withGitOutside<T>(
  repositories: Repositories,
  act: (repositories: Repositories) => Promise<T>,
  exhausted: () => Error = () => new Error('the branches could not be moved because of concurrent pushes'),
): Promise<T> {
  const answers = new Map<string, boolean>();
  const within: Repositories = {
    ...repositories,
    async contains(siteId, repository, commit, ancestor) {
      if (commit === ancestor) return true;
      const question = [siteId, repository, commit, ancestor].join(' ');
      const answer = answers.get(question);
      if (answer !== undefined) return answer;
      throw new NeedsGit(async () => {
        answers.set(question, await repositories.contains(siteId, repository, commit, ancestor));
      });
    },
    async move(siteId, moves) {
      if (await repositories.move(siteId, moves)) return true;
      throw new NeedsGit(() => pause(pauseMs));
    },
  };
  for (let tries = 0; tries < triesMax; tries++) {
    try {
      return await act(within);
    } catch (error) {
      if (!(error instanceof NeedsGit)) throw error;
      await error.work();
    }
  }
  throw exhausted();
}
