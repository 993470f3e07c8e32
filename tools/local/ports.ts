/** Free loopback ports. */
import { createServer } from 'node:net';

/** Below the ephemeral port range, so that no outgoing connection uses one of ours. */
const lowest = 20_000;
const highest = 32_000;
const reserved = new Set<number>();

/** Whether this port on 127.0.0.1 is free now. */
export async function isFree(port: number): Promise<boolean> {
  return await new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}

/** A free port that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (reserved.has(port) || !(await isFree(port))) continue;
    reserved.add(port);
    return port;
  }
}

/** The first free port of the preferred ones, else any free port. */
export async function choosePort(...preferred: (number | undefined)[]): Promise<number> {
  for (const port of preferred) {
    if (port === undefined || reserved.has(port) || !(await isFree(port))) continue;
    reserved.add(port);
    return port;
  }
  return await freePort();
}
