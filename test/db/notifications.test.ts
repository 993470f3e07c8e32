/** Listening continues through every database failure, and logs each once. */
import { createServer, type Server, type Socket } from 'node:net';
import pg from 'pg';
import pino from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import { openNotifications } from '#db/notifications.ts';
import { createTestDatabase } from '#test/stack/database.ts';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

function openLog() {
  const lines: { level: number; msg: string }[] = [];
  return { lines, log: pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line)) }) };
}

/** Something that listens where a database should, and does this with who comes. */
async function standIn(meet: (socket: Socket) => void): Promise<{ url: string; met: () => number }> {
  let met = 0;
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    met += 1;
    sockets.add(socket);
    socket.on('error', () => {});
    meet(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  ends.push(async () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  const { port } = server.address() as { port: number };
  return { url: `postgres://nobody@127.0.0.1:${port}/none`, met: () => met };
}

test('a database that is down is retried, and logged once', async () => {
  const { url, met } = await standIn((socket) => socket.destroy());
  const { lines, log } = openLog();
  const notifications = openNotifications(url, log);
  ends.push(notifications.close);
  await vi.waitUntil(() => met() >= 4, { timeout: 20_000 });
  expect(lines.map((line) => line.msg)).toEqual(['stopped listening for database notifications because of an error']);
});

test('a silent database times out', async () => {
  const { url, met } = await standIn(() => {});
  const { lines, log } = openLog();
  const notifications = openNotifications(url, log);
  ends.push(notifications.close);
  await vi.waitUntil(() => met() >= 2, { timeout: 30_000 });
  expect(lines).toHaveLength(1);
});

test('after each lost connection, notifications resume and listeners get the signal to reload', async () => {
  const database = await createTestDatabase();
  ends.push(database.drop);
  const other = new pg.Pool({ connectionString: database.url, max: 1 });
  ends.push(() => other.end());
  const { lines, log } = openLog();
  const notifications = openNotifications(database.url, log);
  ends.push(notifications.close);
  const heard: (string | undefined)[] = [];
  notifications.on('site_changed', (id) => heard.push(id));
  for (const round of [1, 2]) {
    const losses = () => heard.filter((id) => id === undefined).length;
    await vi.waitUntil(() => losses() === round, { timeout: 20_000 });
    await other.query(`notify site_changed, 'site_${round}'`);
    await vi.waitUntil(() => heard.includes(`site_${round}`), { timeout: 20_000 });
    const listeners = `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name = 'frontage changes'`;
    await other.query(listeners);
  }
  await vi.waitUntil(() => lines.length === 4, { timeout: 20_000 });
  const [lost, again] = [
    'stopped listening for database notifications because of an error',
    'listening for database notifications again',
  ];
  expect(lines.map((line) => line.msg)).toEqual([lost, again, lost, again]);
});
