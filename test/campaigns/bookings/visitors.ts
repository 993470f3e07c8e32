/** The processes of visitors, sent out and followed until all have their answers. */
import type { ChildProcess } from 'node:child_process';
import type { Processes } from '#test/stack/processes.ts';
import type { Orders, Report, Told } from './orders.ts';

/** After this long without an answer to any visitor the campaign ends. */
const stallMs = 180_000;

/**
 * Sends the visitors out from so many processes. `onDone` hears how many have their answer. Fails if a process ends
 * early, or if no visitor gets an answer for minutes.
 */
export async function sendVisitors(
  processes: Processes,
  orders: Orders,
  { from, onDone }: { from: number; onDone(count: number): void },
): Promise<Told[]> {
  const counts = new Map<ChildProcess, number>();
  const each = { ...orders, attempts: Math.ceil(orders.attempts / from) };
  let heardAt = performance.now();
  const sumOf = () => [...counts.values()].reduce((sum, one) => sum + one, 0);
  const follow = (child: ChildProcess) =>
    new Promise<Told[]>((resolve, reject) => {
      child.on('message', ({ done, told }: Report) => {
        heardAt = performance.now();
        counts.set(child, done);
        onDone(sumOf());
        if (told) resolve(told);
      });
      child.on('exit', (code, signal) => reject(new Error(`a visitors’ process ended with ${signal ?? code}`)));
      child.send(each);
    });
  let watching: NodeJS.Timeout | undefined;
  const stalled = new Promise<never>((_resolve, reject) => {
    watching = setInterval(() => {
      if (performance.now() - heardAt < stallMs) return;
      reject(new Error(`no visitor got an answer for ${stallMs / 1000} s, after ${sumOf()} attempts`));
    }, 1000);
  });
  try {
    const children = Array.from({ length: from }, () => processes.start('test/campaigns/bookings/visitor.ts'));
    return (await Promise.race([Promise.all(children.map(follow)), stalled])).flat();
  } finally {
    clearInterval(watching);
  }
}
