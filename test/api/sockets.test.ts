import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as pause } from 'node:timers/promises';
import Fastify from 'fastify';
import { afterAll, expect, test } from 'vitest';
import type { Api } from '#api/api.ts';
import { serveBrowsers } from '#api/plugins/browser.ts';
import { limitBodyTime } from '#api/plugins/sockets.ts';
import type { Deps } from '#runtime/deps.ts';

const bodyMs = 100;
const app = Fastify() as unknown as Api;
afterAll(() => app.close());
limitBodyTime(app, bodyMs);
app.post('/', async () => 'read');
app.post('/file', { config: { rawBody: true } }, async () => 'read');
app.get('/', async () => {
  await pause(bodyMs * 4);
  return 'late';
});
const { port } = new URL(await app.listen({ port: 0 }));

const pages = Fastify() as unknown as Api;
afterAll(() => pages.close());
await serveBrowsers(pages, { em: () => null } as unknown as Deps, { bodyMs });
pages.post('/', async () => 'read');
const { port: pagesPort } = new URL(await pages.listen({ port: 0 }));

function send(head: string, to = port) {
  const socket = connect(Number(to));
  socket.on('error', () => {});
  socket.write(`${head} HTTP/1.1\r\nhost: a\r\nconnection: close\r\n`);
  return { socket, answer: text(socket).catch(() => 'hung up') };
}

test('a body that arrives too slowly is cut off', async () => {
  const { socket, answer } = send('POST /');
  socket.write('content-type: application/json\r\ncontent-length: 10\r\n\r\n{"a"');
  expect(await answer).not.toContain('200 OK');
});

test('a form of a page that arrives too slowly is cut off', async () => {
  const { socket, answer } = send('POST /', pagesPort);
  socket.write('content-type: application/x-www-form-urlencoded\r\ncontent-length: 10\r\n\r\nform=');
  expect(await answer).not.toContain('200 OK');
});

test('files and responses may take longer', async () => {
  const file = send('POST /file');
  file.socket.write('content-type: application/json\r\ncontent-length: 7\r\n\r\n{"a"');
  const late = send('GET /');
  late.socket.write('\r\n');
  expect(await late.answer).toMatch(/200 OK.*late/s);
  file.socket.write(':1}');
  expect(await file.answer).toMatch(/200 OK.*read/s);
});
