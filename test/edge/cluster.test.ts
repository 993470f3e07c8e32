/** Processes of the edge: start, shutdown and restarts. */
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { cachedBytesMax } from '#edge/content/blob-cache.ts';
import { ask, createFixture, type Fixture, until } from './fixture.ts';
import { spawnEdge, startEdgeProcess } from './spawn.ts';

const host = 'shop.sites.test';
const film = Buffer.alloc(30 * cachedBytesMax, 'f');
const running = new Set<ChildProcess>();
let fixture: Fixture;

beforeAll(async () => {
  fixture = await createFixture();
  await fixture.publish('shop', { 'index.html': 'front', 'film.mp4': film });
});
afterEach(() => {
  for (const child of running) child.kill('SIGKILL');
});
afterAll(() => fixture?.close());

function spawn(processes: number, more: Record<string, string> = {}) {
  const edge = spawnEdge(fixture, processes, more);
  running.add(edge.child);
  void edge.exit.finally(() => running.delete(edge.child));
  return edge;
}

async function start(processes: number, more: Record<string, string> = {}) {
  const edge = await startEdgeProcess(fixture, processes, more);
  running.add(edge.child);
  void edge.exit.finally(() => running.delete(edge.child));
  return edge;
}

const refused = (port: number) =>
  new Promise<boolean>((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(false));
    socket.on('error', () => resolve(true));
    socket.on('connect', () => socket.destroy());
  });

test.each([1, 2])('%i process(es): on SIGTERM running requests finish, and nothing is left', async (processes) => {
  const { child, port, exit } = await start(processes);
  const slow = connect(port, '127.0.0.1', () => slow.write(`GET /film.mp4 HTTP/1.1\r\nHost: ${host}\r\n\r\n`));
  await once(slow, 'readable');
  const began = performance.now();
  child.kill('SIGTERM');
  await until(() => refused(port));
  const got = await text(slow);
  expect(got.length).toBeGreaterThan(film.length);
  expect(await exit).toEqual([0, null]);
  // The connection would be kept for another request: it ends with this one, not with anyone's patience.
  expect(performance.now() - began).toBeLessThan(8_000);
});

test('the edge ends when its parent dies', async () => {
  const { child, port, exit } = await start(2);
  child.disconnect();
  await exit;
  expect(await refused(port)).toBe(true);
});

test('no worker survives when the primary is killed', async () => {
  const { child, port } = await start(2);
  child.kill('SIGKILL');
  await until(() => refused(port));
});

async function childrenOf(pid: number | undefined): Promise<number[]> {
  const children = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return children.trim().split(' ').map(Number);
}

test('a process that dies is restarted, and visitors are served meanwhile', async () => {
  const { child, port, log, exit } = await start(2);
  const [victim] = await childrenOf(child.pid);
  process.kill(victim as number, 'SIGKILL');
  const serves = async () => (await ask(port, '/', { host }).catch(() => undefined))?.text === 'front';
  await until(serves);
  await until(async () => {
    const now = await childrenOf(child.pid);
    return now.length === 2 && !now.includes(victim as number);
  });
  expect(await serves()).toBe(true);
  child.kill('SIGTERM');
  await exit;
  expect(await log).toContain('an edge process exited unexpectedly');
});

test.each([1, 2])('%i process(es): a port in use is reported, and the edge ends', async (processes) => {
  const { port } = await start(2);
  const second = spawn(processes, { FRONTAGE_EDGE_PORT: String(port) });
  const [log, [code]] = await Promise.all([second.log, second.exit]);
  expect(code).toBe(1);
  expect(log).toContain('EADDRINUSE');
});

test('the access log is off by default, and contains no query', async () => {
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

test('a draining edge reports not ready, and serves one more response per connection', async () => {
  const { child, port, exit } = await start(2, { FRONTAGE_DRAIN_SECONDS: '2' });
  const isReady = async () => (await ask(port, '/readyz', { host: 'sites.test' })).status;
  expect(await isReady()).toBe(200);
  expect((await ask(port, '/', { host })).headers.connection).toBe('keep-alive');
  child.kill('SIGTERM');
  await until(async () => (await isReady()) === 503);
  const { status, headers } = await ask(port, '/', { host });
  expect({ status, connection: headers.connection }).toEqual({ status: 200, connection: 'close' });
  expect(await exit).toEqual([0, null]);
});
