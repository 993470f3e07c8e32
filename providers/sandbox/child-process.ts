/** A child process seen as a sandbox. */
import type { ChildProcess } from 'node:child_process';

/** The exit code as a shell counts it (128 and the signal), or null where the child never started. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code, signal) => resolve(signal === 'SIGKILL' ? 137 : code));
  });
}
