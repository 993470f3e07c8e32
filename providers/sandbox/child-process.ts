/** The exit status of a sandbox's child process. */
import type { ChildProcess } from 'node:child_process';

/** The exit code, or 137 after SIGKILL, as in a shell (128 + 9); null if the child could not start. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code, signal) => resolve(signal === 'SIGKILL' ? 137 : code));
  });
}
