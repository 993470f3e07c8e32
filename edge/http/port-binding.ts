import type { AddressInfo, Server } from 'node:net';

export type Address = { host: string; port: number; sharesPort: boolean };

/** Listens on the port, or on a free one for 0, and returns it. `sharesPort`: other processes may listen there too. */
export async function bind(server: Server, { host, port, sharesPort }: Address): Promise<number> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ host, port, backlog: 1024, reusePort: sharesPort }, resolve);
  });
  return (server.address() as AddressInfo).port;
}
