/** Measurements that all benchmarks use. */
import { readdir, readFile } from 'node:fs/promises';

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}

// Linux reports hundredths of a second to every program, whatever the kernel's own tick is.
const ticksPerSecond = 100;

/** CPU seconds used by a process and its living children, from /proc. */
export async function cpuSeconds(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8');
  // Behind the name, which is in parentheses and may contain anything. Fields 14 and 15 are user and system time.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = (Number(fields[11]) + Number(fields[12])) / ticksPerSecond;
  let children = 0;
  for (const child of await childrenOf(pid)) children += await cpuSeconds(child);
  return own + children;
}

export async function childrenOf(pid: number): Promise<number[]> {
  const threads = await readdir(`/proc/${pid}/task`);
  const lists = await Promise.all(
    threads.map((thread) => readFile(`/proc/${pid}/task/${thread}/children`, 'utf8').catch(() => '')),
  );
  return lists.join(' ').split(' ').filter(Boolean).map(Number);
}

/** Memory of a process and its living children, from /proc. Shared pages count once for each. */
export async function residentBytes(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8');
  let bytes = Number(/^VmRSS:\s+(\d+)/m.exec(status)?.[1] ?? 0) * 1024;
  for (const child of await childrenOf(pid)) bytes += await residentBytes(child);
  return bytes;
}

/** CPU seconds used by several processes and all of their children, including those that have exited. */
export async function cpuSecondsOfAll(pids: number[]): Promise<number> {
  const all = await Promise.all(pids.map(cpuSecondsEver));
  return all.reduce((sum, seconds) => sum + seconds, 0);
}

async function cpuSecondsEver(pid: number): Promise<number> {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => undefined);
  if (stat === undefined) return 0;
  // Fields 14 to 17: user and system time of the process, and of children that it has waited for.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const own = fields.slice(11, 15).reduce((sum, ticks) => sum + Number(ticks), 0) / ticksPerSecond;
  return own + (await cpuSecondsOfAll(await childrenOf(pid)));
}
