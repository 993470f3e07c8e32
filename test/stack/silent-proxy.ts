/** A proxy to the database that can fall silent: connections stay open, and nothing passes. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** Whose words are swallowed: everybody's, or the server's answers alone. */
export type Silence = 'both' | 'answers';

export async function openSilentProxy(databaseUrl: string) {
  const target = new URL(databaseUrl);
  const pairs = new Set<{ near: Socket; far: Socket }>();
  const server = createServer((near) => {
    const far = connect(Number(target.port || 5432), target.hostname);
    const pair = { near: near.on('error', () => {}), far: far.on('error', () => {}) };
    pairs.add(pair);
    near.pipe(far).pipe(near);
    near.once('close', () => far.end());
    far.once('close', () => near.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = new URL(target);
  [url.hostname, url.port] = ['127.0.0.1', String((server.address() as AddressInfo).port)];
  return {
    url: url.href,
    /** From now on, of all connections that stand; answers how many. What comes is read and lost. */
    silence(whose: Silence): number {
      const standing = [...pairs];
      for (const { near, far } of standing) {
        far.unpipe(near).resume();
        if (whose === 'both') near.unpipe(far).resume();
      }
      return standing.length;
    },
    async close(): Promise<void> {
      for (const { near, far } of pairs) for (const socket of [near, far]) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}
