/** Measurements that all benchmarks use. */
import { readFile } from 'node:fs/promises';
import { childrenOf, cpuSecondsEver } from '#providers/process-times.ts';

export function median(numbers: number[]): number {
  const sorted = numbers.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  const [low = Number.NaN, high = Number.NaN] = [sorted[Math.ceil(sorted.length / 2) - 1], sorted[middle]];
  return (low + high) / 2;
}

/** The smallest of the numbers that this part of them, for example 0.95, does not exceed. */
export function percentile(numbers: readonly number[], part: number): number {
  return numbers.toSorted((a, b) => a - b)[Math.ceil(part * numbers.length) - 1] ?? Number.NaN;
}

/** The median of the ratios of paired runs: other load on the machine affects both runs of a pair. */
export function medianRatio(ours: number[], theirs: number[]): number {
  return median(ours.map((one, n) => one / (theirs[n] ?? Number.NaN)));
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
