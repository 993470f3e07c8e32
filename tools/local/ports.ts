/** Which loopback ports to use: the named one, or one that is free. */
import { createServer } from 'node:net';

/** Below the range from which systems give out ports to outgoing connections, so that none of those takes ours. */
const lowest = 20_000;
const highest = 32_000;
const given = new Set<number>();

/** Whether 127.0.0.1 takes a listener on this port now. */
export async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A free port that this process has not given out before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
}

/** The first of the wished-for ports that is free, else any free one. */
export async function choosePort(...wished: (number | undefined)[]): Promise<number> {
  for (const port of wished) {
    if (port === undefined || given.has(port) || !(await isFree(port))) continue;
    given.add(port);
    return port;
  }
  return await freePort();
}
