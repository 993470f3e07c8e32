/** What git itself says about a push: `receive-pack` writes the reflog of a branch as it moves it. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './git.ts';

/** The id that `receive-pack` was started with, and a commit that it was to move the branch to. */
export type Pushed = { pushId: string; to: string };

/** Settings of a `receive-pack` whose moves are found by this id. */
export const pushSettings = { 'core.logAllRefUpdates': 'true' };

/** The environment of such a `receive-pack`: each line of the reflog names its committer. */
export const pushEnvironment = (pushId: string) => ({
  GIT_COMMITTER_NAME: 'push',
  GIT_COMMITTER_EMAIL: pushId,
});

/** Whether the reflog has this move. Reads one file of git's files backend. */
export async function wasPushed({ dir }: Place, ref: string, { pushId, to }: Pushed): Promise<boolean> {
  const log = await readFile(join(dir, 'logs', ref), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
  return log.includes(` ${to} push <${pushId}> `);
}
