/** CPU times of processes, from Linux's /proc. On other systems every figure is 0 and every list empty. */
import { readdir, readFile } from 'node:fs/promises';

// Linux reports hundredths of a second to every program, whatever the kernel's own tick is.
const ticksPerSecond = 100;

/** CPU seconds used by a process and all of its children, including those that have exited. */
export async function cpuSecondsEver(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return 0;
  // Behind the name, which is in parentheses and may contain anything. Fields 14 to 17: user and system time of the
  // process, and of children that it has waited for.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
  const children = await Promise.all((await childrenOf(pid)).map(cpuSecondsEver));
  return children.reduce((sum, seconds) => sum + seconds, own);
}

/** The running children of a process. */
export async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`).catch((): string[] => []);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}
