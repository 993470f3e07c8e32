/** Merges and branch moves in bare repositories, by `git merge-tree` and `git update-ref`: no work tree, no index. */
import { createInterface } from 'node:readline';
import type { SpawnedProcess } from '#providers/spawn-helper.ts';
import type { Author, Identity } from './commits.ts';
import { assertSha, gitEnvironment, type Place, runGit, spawnGit } from './git.ts';
import { sweepRepository } from './leftovers.ts';
import { pushEnvironment, pushSettings } from './pushes.ts';

export type Merge = { ours: string; theirs: string; message: string; author: Author; at: Date };
export type Merged = { commit: string } | { conflicts: string[] };

/** A commit with both as parents, on no branch yet; or the paths on which the two sides conflict. */
export async function mergeCommits(place: Place, { ours, theirs, message, author, at }: Merge): Promise<Merged> {
  assertSha(ours);
  assertSha(theirs);
  const args = ['merge-tree', '--write-tree', '--name-only', '--no-messages', '-z', ours, theirs];
  const { status, stdout } = await runGit(place, args, { accept: [0, 1] });
  const [tree = '', ...paths] = stdout.toString().split('\0').filter(Boolean);
  if (status === 1) return { conflicts: [...new Set(paths)].sort() };
  assertSha(tree);
  const parents = ['-p', ours, '-p', theirs];
  const made = await runGit(place, ['commit-tree', tree, ...parents], {
    input: [message],
    environment: who(author, at),
  });
  return { commit: made.stdout.toString().trim() };
}

function who(author: Author, at: Date): Record<string, string> {
  const date = `${Math.floor(at.getTime() / 1000)} +0000`;
  const person = (role: 'AUTHOR' | 'COMMITTER', { name, email }: Identity) => ({
    // git rejects a commit without a name, so the address replaces a missing one.
    [`GIT_${role}_NAME`]: name.replace(/[\p{Cc}<>]/gu, '').trim() || email,
    [`GIT_${role}_EMAIL`]: email,
    [`GIT_${role}_DATE`]: date,
  });
  return { ...person('AUTHOR', author), ...person('COMMITTER', author.committer ?? author) };
}

/**
 * A move of one repository's branch from one commit to another; null if the branch does not exist before or after. git
 * writes the id into the reflog.
 */
export type Move = { place: Place; ref: string; from: string | null; to: string | null; pushId?: string | undefined };

const zeroOid = '0'.repeat(40);

/**
 * Moves all branches or none: each is locked and found at `from` before the first one moves. False if one is elsewhere,
 * or locked by another writer. A kill between two moves leaves the rest unmoved, and repeating the call moves them.
 */
export async function moveBranches(moves: readonly Move[]): Promise<boolean> {
  const begun: Transaction[] = [];
  try {
    for (const move of moves) begun.push(await openTransaction(move));
    for (const one of begun) {
      if (await one.prepare()) continue;
      for (const { place } of moves) await sweepRepository(place.dir);
      return false;
    }
    for (const one of begun) await one.commit();
    return true;
  } finally {
    // Closing an uncommitted transaction releases its lock.
    await Promise.all(begun.map((one) => one.close()));
  }
}

type Transaction = Awaited<ReturnType<typeof openTransaction>>;

/** A git-update-ref(1) transaction on one branch. */
async function openTransaction({ place, ref, from, to, pushId }: Move) {
  for (const sha of [from, to]) if (sha !== null) assertSha(sha);
  const logged = pushId === undefined ? {} : { ...gitEnvironment(pushSettings), ...pushEnvironment(pushId) };
  const child = await spawnGit(place, ['update-ref', '--no-deref', '--stdin'], logged);
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async prepare(): Promise<boolean> {
      say(child, 'start', `update ${ref} ${to ?? zeroOid} ${from ?? zeroOid}`, 'prepare');
      if ((await next(answers)) === 'start: ok' && (await next(answers)) === 'prepare: ok') return true;
      const { status, stderr: words } = await child.exited;
      if (/lock/.test(words)) return false;
      throw new Error(`git update-ref exited with ${status}: ${words}`);
    },
    async commit(): Promise<void> {
      say(child, 'commit');
      if ((await next(answers)) !== 'commit: ok')
        throw new Error(`git update-ref did not commit: ${(await child.exited).stderr}`);
    },
    async close(): Promise<void> {
      child.stdin.end();
      await child.exited.catch(() => {});
    },
  };
}

function say(child: SpawnedProcess, ...lines: string[]): void {
  child.stdin.write(`${lines.join('\n')}\n`);
}

async function next(answers: AsyncIterator<string>): Promise<string | undefined> {
  const { value, done } = await answers.next();
  return done ? undefined : value;
}
