/** Free loopback ports. */
import { createServer } from 'node:net';

/** Below the ephemeral port range, so that no outgoing connection uses one of ours. */
const lowest = 20_000;
const highest = 32_000;
const reserved = new Set<number>();
/** Both, because clients may try either of them for `localhost`: another program on `::1` would get our requests. */
const loopback = ['127.0.0.1', '::1'];
const withoutIpv6 = ['EADDRNOTAVAIL', 'EAFNOSUPPORT'];

/** Why this port of the loopback cannot be used now, as a code of the system; undefined if it is free. */
export async function portFault(port: number): Promise<string | undefined> {
  const faults = await Promise.all(loopback.map((host) => listenFault(port, host)));
  return faults.find((fault) => fault !== undefined && !withoutIpv6.includes(fault));
}

function listenFault(port: number, host: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => resolve(error.code));
    server.listen({ port, host, ipv6Only: host === '::1' }, () => server.close(() => resolve(undefined)));
  });
}

/** Reserves the port for the caller, if it is free and this process has not returned it before. */
export async function reservePort(port: number): Promise<boolean> {
  if (reserved.has(port) || (await portFault(port))) return false;
  reserved.add(port);
  return true;
}

/** A free port that this process has not returned before. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = lowest + Math.floor(Math.random() * (highest - lowest));
    if (await reservePort(port)) return port;
  }
}

/** The first free port of the preferred ones, else any free port. */
export async function choosePort(...preferred: (number | undefined)[]): Promise<number> {
  for (const port of preferred) if (port !== undefined && (await reservePort(port))) return port;
  return await freePort();
}
