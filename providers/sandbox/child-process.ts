/** A sandbox's child process: its exit status, and its end. */
import type { ChildProcess } from 'node:child_process';
import type { ControlGroup } from './cgroups.ts';

/** The exit code, or 137 after SIGKILL, as in a shell (128 + 9); null if the child could not start. */
export function exitOf(child: ChildProcess): Promise<number | null> {
  return new Promise((resolve) => {
    child.once('error', () => resolve(null));
    child.once('exit', (code, signal) => resolve(signal === 'SIGKILL' ? 137 : code));
  });
}

/** Ends the process and its group, once. The enclosure's first process takes all others with it, however many there are. */
export function killer(
  child: ChildProcess,
  exited: Promise<unknown>,
  group: Pick<ControlGroup, 'remove'>,
): () => Promise<void> {
  let killed: Promise<void> | undefined;
  return () => {
    killed ??= (async () => {
      child.kill('SIGKILL');
      await exited;
      await group.remove();
    })();
    return killed;
  };
}
