import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { connect } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import { callWith, createFixture } from './fixture.ts';

const fixture = await createFixture();
const children: ChildProcess[] = [];
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await fixture.close();
});
const owner = await fixture.newCaller();
const entry = join(import.meta.dirname, '../../api/server.ts');

/** Starts an API process on a free port; answers when it says that it is ready. */
async function startProcess(more: Record<string, string> = {}) {
  const child = fork(entry, {
    env: {
      PATH: process.env.PATH ?? '',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE ?? '',
      DATABASE_URL: fixture.database.url,
      TEMPORAL_ADDRESS: fixture.config.temporal.address,
      FRONTAGE_SECRET: fixture.config.secret,
      FRONTAGE_DATA: fixture.config.dataDir,
      FRONTAGE_API_PORT: '0',
      ...more,
    },
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
    execArgv: [],
  });
  children.push(child);
  const ended = once(child, 'exit').then(([code, signal]) => signal ?? code);
  const [message] = (await once(child, 'message')) as [{ ready: boolean; url: string }];
  expect(message.ready).toBe(true);
  return { child, url: message.url, ended };
}

const refuses = (url: string) =>
  fetch(url).then(
    () => false,
    () => true,
  );

test('on SIGTERM running requests are completed, and new ones are refused', async () => {
  const { child, url, ended } = await startProcess();
  const body = JSON.stringify({ name: 'slowly' });
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  const answer = text(socket);
  socket.write(
    `POST /v1/tokens HTTP/1.1\r\nhost: a\r\nauthorization: Bearer ${owner.token}\r\ncontent-type: application/json\r\n` +
      `content-length: ${body.length}\r\n\r\n${body.slice(0, 5)}`,
  );
  // Answered on another connection, so the first one's head has been read by then.
  expect((await callWith(url, owner.token)('GET', '/v1/account')).status).toBe(200);
  child.kill('SIGTERM');
  await expect.poll(() => refuses(`${url}/healthz`)).toBe(true);
  socket.write(body.slice(5));
  expect(await answer).toMatch(/^HTTP\/1\.1 200 OK/);
  expect(await ended).toBe(0);
});

test('a draining process is not ready but responds once more on each connection', async () => {
  const { child, url, ended } = await startProcess({ FRONTAGE_DRAIN_SECONDS: '2' });
  expect((await fetch(`${url}/readyz`)).headers.get('connection')).toBe('keep-alive');
  child.kill('SIGTERM');
  await expect.poll(async () => (await fetch(`${url}/readyz`)).status).toBe(503);
  const { status, headers } = await callWith(url, owner.token)('GET', '/v1/account');
  expect({ status, connection: headers.get('connection') }).toEqual({ status: 200, connection: 'close' });
  expect((await fetch(`${url}/healthz`)).status).toBe(200);
  expect(await ended).toBe(0);
  expect(await refuses(`${url}/healthz`)).toBe(true);
});

test('a process exits with its parent', async () => {
  const { child, ended } = await startProcess();
  child.disconnect();
  expect(await ended).toBe(0);
});

test('an invalid configuration is reported completely, and nothing starts', async () => {
  const child = fork(entry, {
    env: { PATH: process.env.PATH ?? '', FRONTAGE_SECRET: 'short', FRONTAGE_API_PORT: 'http' },
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    execArgv: [],
  });
  children.push(child);
  const [said, [code]] = await Promise.all([text(child.stderr as NodeJS.ReadableStream), once(child, 'exit')]);
  expect(code).toBe(1);
  expect(said).toContain('FRONTAGE_SECRET');
  expect(said).toContain('FRONTAGE_API_PORT');
  expect(said).not.toContain('short');
});
