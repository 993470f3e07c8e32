/** What git itself says about a push or a commit by a call: it writes the reflog of a branch as it moves the branch. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Place } from './git.ts';

/** The id that `receive-pack` was started with, and a commit that it was to move the branch to. */
export type Pushed = { pushId: string; to: string };
/** A commit that moved a branch; `parent` is null for the branch's first. */
export type Made = { commit: string; parent: string | null };

/** Settings of a git process whose moves are found by an id. */
export const pushSettings = { 'core.logAllRefUpdates': 'true' };

/** The environment of such a `receive-pack`: each line of the reflog names its committer. */
export const pushEnvironment = (pushId: string) => ({
  GIT_COMMITTER_NAME: 'push',
  GIT_COMMITTER_EMAIL: pushId,
});

/** The same for a commit by a call. */
export const callEnvironment = (callId: string) => ({
  GIT_COMMITTER_NAME: 'call',
  GIT_COMMITTER_EMAIL: callId,
});

/** Whether the reflog has this move. */
export async function wasPushed(place: Place, ref: string, { pushId, to }: Pushed): Promise<boolean> {
  return (await readReflog(place, ref)).includes(` ${to} push <${pushId}> `);
}

/** The commit that this call made on the branch, wherever the branch is now; null if it made none. */
export async function madeByCall(place: Place, ref: string, callId: string): Promise<Made | null> {
  const lines = (await readReflog(place, ref)).split('\n');
  const [from, commit] = lines.find((line) => line.includes(` call <${callId}> `))?.split(' ') ?? [];
  if (from === undefined || commit === undefined) return null;
  return { commit, parent: /^0+$/.test(from) ? null : from };
}

/** Whether the branch, now at `head`, was removed after it had pointed to `from`. git removes its reflog with it. */
export async function wasRemoved(
  place: Place,
  ref: string,
  { from, head }: { from: string; head: string | null },
): Promise<boolean> {
  if (head === null || head === from) return head === null;
  const lines = (await readReflog(place, ref)).split('\n');
  return !lines.some((line) => line.startsWith(`${from} `));
}

/** Reads one file of git's files backend. */
async function readReflog({ dir }: Place, ref: string): Promise<string> {
  return await readFile(join(dir, 'logs', ref), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return '';
    throw error;
  });
}
