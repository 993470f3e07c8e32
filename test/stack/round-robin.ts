/** A TCP load balancer: passes each connection to the next ready process. */
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, createServer, type Socket } from 'node:net';

const lookEveryMs = 100;

export type Front = Awaited<ReturnType<typeof openRoundRobin>>;

/**
 * Listens on `at`. `ask`: the host and path at which a process says whether it is ready, at the port `asked`.
 */
export async function openRoundRobin(
  processes: { port: number; asked: number }[],
  ask: { host: string; path: string },
  at: number,
) {
  const ready = new Set<number>();
  const sockets = new Set<Socket>();
  let next = 0;

  async function look(): Promise<void> {
    await Promise.all(
      processes.map(async ({ port, asked }) => {
        if (await saysReady(asked, ask)) ready.add(port);
        else ready.delete(port);
      }),
    );
  }

  function chosen(): number | undefined {
    const some = processes.filter(({ port }) => ready.has(port));
    next += 1;
    return some[next % some.length]?.port;
  }

  const server = createServer({ allowHalfOpen: true }, (client) => {
    const port = chosen();
    const far = port === undefined ? undefined : connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    if (!far) return void client.destroy();
    for (const socket of [client, far])
      sockets.add(socket.on('error', () => {}).once('close', () => sockets.delete(socket)));
    client.pipe(far).pipe(client);
    client.once('close', () => far.destroy());
    far.once('close', () => client.destroy());
  });
  await look();
  const timer = setInterval(() => void look(), lookEveryMs);
  server.listen(at, '127.0.0.1');
  await once(server, 'listening');
  return {
    ready: () => [...ready],
    async close(): Promise<void> {
      clearInterval(timer);
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, 'close');
    },
  };
}

function saysReady(port: number, { host, path }: { host: string; path: string }): Promise<boolean> {
  return new Promise((resolve) => {
    const asked = request(
      { port, host: '127.0.0.1', path, agent: false, timeout: 2_000, headers: { host } },
      (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      },
    );
    asked.on('error', () => resolve(false)).on('timeout', () => asked.destroy());
    asked.end();
  });
}
