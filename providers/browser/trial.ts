/** Whether the wall works on this machine, and Chromium behind it: tried with the wall's own command, within a second. */
import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';
import { exitOf } from '#providers/sandbox/child-process.ts';
import { openFilter, systemPath, type WallKind, wallCommand } from './wall.ts';

const trialMs = 10_000;

/** `wall`: nothing runs behind it. `program`: only this program does not. */
export type WallFault = { of: 'wall' | 'program'; detail: string };

/** Undefined if it works. The program prints its version: all of Chromium would take several times as long. */
export async function findWallFault(program: string, path = systemPath): Promise<WallFault | undefined> {
  // The wall that a worker falls back to; older versions of bubblewrap have only the other.
  if ((await tryBehind('outer', program, path)) === undefined) return undefined;
  const detail = await tryBehind('nested', program, path);
  if (detail === undefined) return undefined;
  return { of: (await tryBehind('nested', '/bin/true', path)) === undefined ? 'program' : 'wall', detail };
}

/** Why the program does not run behind the wall, in the last words of whatever failed. */
async function tryBehind(kind: WallKind, program: string, path: string): Promise<string | undefined> {
  const filter = await openFilter(kind);
  try {
    const [shell = '', ...args] = wallCommand(kind, program, { hasFilter: filter !== undefined });
    const child = spawn(shell, [...args, '--version'], {
      stdio: ['ignore', 'ignore', 'pipe', 'ignore', 'ignore', filter?.fd ?? 'ignore'],
      env: { PATH: path },
      cwd: '/',
      timeout: trialMs,
      killSignal: 'SIGKILL',
    });
    const [code, told] = await Promise.all([exitOf(child), child.stderr ? text(child.stderr) : '']);
    // Killed: a machine that was too busy for the trial says nothing about the wall.
    if (code === 0 || code === 137) return undefined;
    return told.trim().split('\n').at(-1) || `it exited with code ${code}`;
  } catch (error) {
    return (error as Error).message;
  } finally {
    await filter?.close();
  }
}
