/**
 * Pauses a rehearsal while something else needs the CPU. A low priority would be simpler, but no unprivileged process
 * can leave one again (setpriority(2)), and a control group's share counts only among its siblings.
 */
import { readFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';

const cpuCount = cpus().length;
const runMs = 50;
/** Until the kernel counts the process no longer. */
const stopMs = 3;
/** On a busy machine, a quarter of the time is left. */
const pauseMs = 3 * runMs;

/**
 * Pauses the process until the promise settles, after which it runs.
 * @param {import('node:child_process').ChildProcess} child
 * @param {Promise<unknown>} ended
 */
export async function pauseUntil(child, ended) {
  const over = ended.then(
    () => true,
    () => true,
  );
  for (;;) {
    if (await Promise.race([over, delay(runMs)])) return;
    child.kill('SIGSTOP');
    await delay(stopMs);
    if (countRunning() > cpuCount) await delay(pauseMs);
    child.kill('SIGCONT');
  }
}

/** All that runs or is ready to run on this machine, with this process; see proc_loadavg(5). */
function countRunning() {
  return Number(/(\d+)\/\d+/.exec(readFileSync('/proc/loadavg', 'utf8'))?.[1] ?? Infinity);
}
