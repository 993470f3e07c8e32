/** Identifies a process even if a later one reuses its pid. Plain JavaScript: the first start calls it before Node can run TypeScript. */
import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';

/** @typedef {{ pid: number, started: string }} ProcessId */

const bootIdFile = '/proc/sys/kernel/random/boot_id';

/**
 * Identifies the running process with this pid; undefined if there is none or it is a zombie.
 * @param {number} pid
 * @returns {ProcessId | undefined}
 */
export function identify(pid) {
  try {
    return existsSync(bootIdFile) ? identifyByProc(pid) : identifyByPs(pid);
  } catch {
    return undefined;
  }
}

/** @param {number} pid */
function identifyByProc(pid) {
  // proc_pid_stat(5): the name is in parentheses and may contain anything; field 3 is the state, field 22 the start time.
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8')
    .replace(/^.*\) /s, '')
    .split(' ');
  if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
  return { pid, started: `${readFileSync(bootIdFile, 'utf8').trim()}/${fields[19]}` };
}

/** @param {number} pid */
function identifyByPs(pid) {
  const line = execFileSync('ps', ['-o', 'state=,lstart=', '-p', String(pid)], { encoding: 'utf8' }).trim();
  const [, state, started] = line.match(/^(\S+)\s+(.*)$/) ?? [];
  return started === undefined || state?.startsWith('Z') ? undefined : { pid, started };
}

/** @param {ProcessId} id */
export function isRunning(id) {
  return identify(id.pid)?.started === id.started;
}
