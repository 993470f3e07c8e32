/** The edge as it runs: its processes, how they start, how they end, and what ends with them. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { heldBytesMax } from '../../edge/bytes.ts';
import { ask, createWorld, until, type World } from './world.ts';

const host = 'shop.sites.test';
const film = Buffer.alloc(30 * heldBytesMax, 'f');
const running = new Set<ChildProcess>();
let world: World;

beforeAll(async () => {
  world = await createWorld();
  await world.publish('shop', { 'index.html': 'front', 'film.mp4': film });
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});
afterAll(() => world?.close());

type Started = { child: ChildProcess; port: number; log: Promise<string>; exit: Promise<unknown[]> };

async function start(processes: number, more: Record<string, string> = {}): Promise<Started> {
  const child = fork(join(import.meta.dirname, '../../edge/server.ts'), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: world.database.url,
      FRONTAGE_DATA: world.dir,
      FRONTAGE_BASE_DOMAIN: 'sites.test',
      FRONTAGE_EDGE_PORT: '0',
      FRONTAGE_EDGE_PROCESSES: String(processes),
      FRONTAGE_SECRET: 'x'.repeat(32),
      ...more,
    },
    stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
  });
  running.add(child);
  const exit = once(child, 'exit').finally(() => running.delete(child));
  const log = text(child.stdout as NodeJS.ReadableStream as never);
  const [message] = (await once(child, 'message')) as [{ ready: boolean; url: string }];
  expect(message.ready).toBe(true);
  return { child, port: Number(new URL(message.url).port), log, exit };
}

const refused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false));
    socket.on('error', () => resolve(true));
    socket.on('connect', () => socket.destroy());
  });

test.each([1, 2])(
  '%i process(es): on SIGTERM what was begun is finished, and nothing stays behind',
  async (processes) => {
    const { child, port, exit } = await start(processes);
    const slow = connect(port, '127.0.0.1', () => slow.write(`GET /film.mp4 HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
    await once(slow, 'readable');
    child.kill('SIGTERM');
    await until(() => refused(port));
    const got = await text(slow);
    expect(got.length).toBeGreaterThan(film.length);
    expect(await exit).toEqual([0, null]);
  },
);

test('the edge ends when its parent is gone', async () => {
  const { child, port, exit } = await start(2);
  child.disconnect();
  await exit;
  expect(await refused(port)).toBe(true);
});

test('a process that dies is replaced, and visitors are served all the while', async () => {
  const { child, port, log, exit } = await start(2);
  const children = await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8');
  const [victim] = children.trim().split(' ').map(Number);
  process.kill(victim as number, 'SIGKILL');
  const serves = async () => (await ask(port, '/', { host }).catch(() => undefined))?.text === 'front';
  await until(serves);
  await until(async () => {
    const now = (await readFile(`/proc/${child.pid}/task/${child.pid}/children`, 'utf8')).trim().split(' ').map(Number);
    return now.length === 2 && !now.includes(victim as number);
  });
  expect(await serves()).toBe(true);
  child.kill('SIGTERM');
  await exit;
  expect(await log).toContain('an edge process died');
});

test('a port that is taken is said, and the edge ends', async () => {
  const { port } = await start(1);
  for (const processes of ['1', '2']) {
    const second = start(Number(processes), { FRONTAGE_EDGE_PORT: String(port) });
    second.catch(() => {});
    await until(
      async () => [...running].some((child) => child.exitCode === 1 || child.exitCode === 2) || running.size === 1,
    );
  }
});

test('the access log is off, and names no query when it is on', async () => {
  const [quiet, loud] = [await start(1), await start(1, { FRONTAGE_EDGE_ACCESS_LOG: 'on' })];
  for (const { port, child } of [quiet, loud]) {
    await ask(port, '/?name=ada', { host });
    child.kill('SIGTERM');
  }
  expect(await quiet.log).not.toContain('"path"');
  const line = (await loud.log).split('\n').find((entry) => entry.includes('"path"')) ?? '{}';
  expect(JSON.parse(line)).toMatchObject({ method: 'GET', host, path: '/', status: 200 });
  expect(await loud.log).not.toContain('ada');
});
