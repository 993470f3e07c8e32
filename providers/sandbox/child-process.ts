/** A sandbox's child process: commands of the shell that starts it, its exit status, and its end. */
import type { ChildProcess } from 'node:child_process';
import type { ControlGroup } from './cgroups.ts';

/** The shell, and what replaces it, joins the control groups whose files are in `$1`. */
export const joinGroups = 'for f in $1; do echo $$ > "$f" || exit 70; done';

/** Limits the open files. A lower hard limit of the system stays. */
export const limitFiles = (most: number) => `ulimit -n ${most} 2> /dev/null || true`;

/** Memory that Node and its threads reserve and do not use; a build of a template has 1.7 GiB. */
const reservedBytes = 3 * 1024 ** 3;

/** For `limitData`. */
export const dataKilobytes = (memoryBytes: number) => String(Math.ceil((memoryBytes + reservedBytes) / 1024));

/**
 * A command for a shell: RLIMIT_DATA of getrlimit(2) refuses a process more than it may reserve. `word` expands to kilobytes, or to
 * nothing for no limit. A lower hard limit of the system stays.
 */
export const limitData = (word: string) => `[ -z ${word} ] || ulimit -d ${word} 2> /dev/null || true`;

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
