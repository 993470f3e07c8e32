/** Resumed TLS sessions: connections with one request each, by clients that have a ticket. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, type TLSSocket } from 'node:tls';
import type { Amount } from './h2load.ts';

const processes = 2;
const connections = 16;

/** A client is a process of its own, so that its work does not delay the benchmark's. */
export async function resumeOften(url: string, seconds: number): Promise<Amount> {
  const clients = Array.from({ length: processes }, () => fork(import.meta.filename, [url, String(seconds)]));
  await Promise.all(clients.map((client) => once(client, 'message')));
  const began = performance.now();
  const counts = await Promise.all(clients.map(measure));
  return { requests: counts.reduce((sum, count) => sum + count, 0), seconds: (performance.now() - began) / 1000 };
}

async function measure(client: ChildProcess): Promise<number> {
  client.send('start');
  const [count] = await once(client, 'message');
  await once(client, 'exit');
  if (typeof count !== 'number') throw new Error(`a session was not resumed: ${count}`);
  return count;
}

/** Connects, sends one request, and returns when its response has begun. */
function ask({ hostname, port, pathname }: URL, session: Buffer | undefined): Promise<TLSSocket> {
  const socket = connect({
    host: '127.0.0.1',
    port: Number(port),
    servername: hostname,
    session,
    rejectUnauthorized: false,
    // Not every contestant knows the hybrid one that Node offers first.
    ecdhCurve: 'X25519',
  });
  socket.write(`GET ${pathname} HTTP/1.1\r\nHost: ${hostname}\r\n\r\n`);
  return new Promise((resolve, reject) => {
    socket.once('data', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The newest ticket of a full handshake. */
async function ticketOf(url: URL): Promise<Buffer> {
  const first = await ask(url, undefined);
  // A ticket may arrive after the response.
  const session = first.getSession() ?? (await once(first, 'session'))[0];
  first.destroy();
  return session as Buffer;
}

async function runClient(url: URL, seconds: number): Promise<void> {
  const ticket = await ticketOf(url);
  process.send?.('ready');
  await once(process, 'message');
  const until = performance.now() + seconds * 1000;
  let count = 0;
  const visit = async () => {
    while (performance.now() < until) {
      const socket = await ask(url, ticket);
      if (!socket.isSessionReused()) throw new Error('a full handshake');
      socket.destroy();
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: connections }, visit));
  process.send?.(count);
  process.disconnect();
}

if (import.meta.main)
  await runClient(new URL(process.argv[2] as string), Number(process.argv[3])).catch((error) => {
    process.send?.(String(error));
    process.exit(1);
  });
