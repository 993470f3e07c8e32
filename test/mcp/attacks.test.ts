import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { afterAll, expect, test } from 'vitest';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { agentOf, connect } from './fixture.ts';

const fixture = await createFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

/** Sends bytes as a message; answers the status, and what came. */
async function send(body: string, headers: Record<string, string> = {}) {
  const answer = await fetch(`${fixture.url}/mcp`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${owner.token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    body,
  });
  return { status: answer.status, text: await answer.text() };
}

test('a client whose messages reach different processes notices nothing', async () => {
  let turn = 0;
  const alternating = (url: string | URL, init?: RequestInit) =>
    fetch(String(url).replace(fixture.url, turn++ % 2 === 0 ? fixture.url : second.url), init);
  const client = new Client({ name: 'test', version: '1' });
  const transport = new StreamableHTTPClientTransport(new URL('/mcp', fixture.url), {
    fetch: alternating,
    requestInit: { headers: { authorization: `Bearer ${owner.token}` } },
  });
  await client.connect(transport as Parameters<typeof client.connect>[0]);
  const agent = agentOf(client);
  const names = Array.from({ length: 4 }, (_, n) => `turn-${process.pid}-${n}`);
  await agent.tools();
  const made = await Promise.all(
    names.map((name) => agent.call('site_create', { name, title: 'T', idempotency_key: name })),
  );
  const again = await Promise.all(
    names.map((name) => agent.call('site_create', { name, title: 'T', idempotency_key: name })),
  );
  expect(again.map(({ body }) => body.id)).toEqual(made.map(({ body }) => body.id));
  expect(turn).toBeGreaterThan(10);
  await agent.close();
});

test('a token revoked during a followed call ends it with the reason', async () => {
  const site = await createSite(owner, { template: 'blank' });
  const { body: token } = await owner.call('POST', '/v1/tokens', { body: { name: 'short' } });
  const agent = await connect(fixture.url, token.access_token);
  let revoked: Promise<unknown> | undefined;
  const { isError, error } = await agent.call('site_publish', { id: site.id }, () => {
    revoked ??= owner.call('DELETE', `/v1/tokens/${token.id}`);
  });
  await revoked;
  expect([isError, error.code]).toEqual([true, 'unauthorized']);
  await agent.close();
});

const call = (params: unknown, more: object = {}) =>
  JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params, ...more });
const named = (args: unknown, more: object = {}) => call({ name: 'site_read', arguments: args, ...more });
const deep = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;

const hostile: [what: string, body: string][] = [
  ['nothing', ''],
  ['null', 'null'],
  ['a number', '7'],
  ['words', '"ping"'],
  ['half a message', '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{'],
  ['an object as an id', call({ name: 'site_list' }, { id: { a: 1 } })],
  ['a null id', call({ name: 'site_list' }, { id: null })],
  ['an id of a broken number', '{"jsonrpc":"2.0","id":1e999,"method":"ping"}'],
  ['an overlong id', call({ name: 'site_list' }, { id: 'x'.repeat(500_000) })],
  ['another version', JSON.stringify({ jsonrpc: '1.0', id: 1, method: 'ping' })],
  ['a list as a method', JSON.stringify({ jsonrpc: '2.0', id: 1, method: ['tools/call'] })],
  ['a method of objects', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'toString' })],
  ['a method of the prototype', JSON.stringify({ jsonrpc: '2.0', id: 1, method: '__proto__' })],
  ['a tool of the prototype', call({ name: '__proto__', arguments: {} })],
  ['a tool of zeros', call({ name: '\u0000'.repeat(1000), arguments: {} })],
  ['inputs that are a list', named([])],
  ['inputs that are words', named('id')],
  ['inputs that are null', named(null)],
  [
    'a prototype',
    '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"site_read","arguments":{"__proto__":{"id":"x"}}}}',
  ],
  ['a constructor', named({ constructor: { prototype: { id: 'x' } } })],
  [
    'deep inputs',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"site_read","arguments":{"id":${deep(20_000)}}}}`,
  ],
  ['a very deep message', deep(200_000)],
  [
    'deep arguments of a call',
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"call_operations","arguments":{"calls":[{"operation":"token_create","arguments":{"name":${deep(20_000)}}}]}}}`,
  ],
  ['half a character', named({ id: '\ud800' })],
  ['an id of nothing but control characters', named({ id: '\u0000\u0007' })],
  ['a long id of a site', named({ id: 'x'.repeat(100_000) })],
  ['a token for progress that is a thing', call({ name: 'site_list', _meta: { progressToken: { a: 1 } } })],
  ['a token for progress that is long', call({ name: 'site_list', _meta: { progressToken: 'x'.repeat(500_000) } })],
  ['a task', call({ name: 'site_list', task: { ttl: 1e12 } })],
  ['an answer that nobody asked for', JSON.stringify({ jsonrpc: '2.0', id: 1, result: { tools: [] } })],
  ['an error that nobody asked for', JSON.stringify({ jsonrpc: '2.0', id: 1, error: { code: 1, message: 'x' } })],
  [
    'the end of somebody else’s call',
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }),
  ],
  [
    'progress of nothing',
    JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params: { progressToken: 1, progress: -1 } }),
  ],
  ['a subscription', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/subscribe', params: { uri: 'x' } })],
  [
    'a level of logging',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'logging/setLevel', params: { level: 'debug' } }),
  ],
  ['a cursor', JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { cursor: '\u0000' } })],
  [
    'a resource by a path',
    JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri: '/skill/../../etc/passwd' } }),
  ],
];

test.each(hostile)('%s gets a protocol error, and has no effect', async (_what, body) => {
  const { status, text } = await send(body);
  expect(status).toBeLessThan(500);
  expect([200, 202, 400, 413].includes(status), text.slice(0, 200)).toBe(true);
  expect(text).not.toMatch(/node:internal|\.ts:\d|at \w+ \(/);
  if (text.startsWith('{')) expect(JSON.parse(text)).toMatchObject({ jsonrpc: '2.0' });
});

test('invalid protocol headers are refused', async () => {
  const ping = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  for (const headers of [
    { 'mcp-protocol-version': 'x'.repeat(4000) },
    { 'mcp-protocol-version': '2025-06-18, 2025-11-25' },
    { accept: 'application/json;q=0' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-encoding': 'gzip' },
  ]) {
    const { status } = await send(ping, headers);
    expect([JSON.stringify(headers).slice(0, 60), status >= 500]).toEqual([
      JSON.stringify(headers).slice(0, 60),
      false,
    ]);
  }
  // No session is kept, so one that a client thinks it has is nobody's, and opens nothing.
  expect((await send(ping, { 'mcp-session-id': 'of-somebody-else' })).status).toBe(200);
});

test('concurrent calls each get their own response', async () => {
  const ids = Array.from({ length: 60 }, (_, n) => n + 1);
  const answers = await Promise.all(
    ids.map(async (id) =>
      JSON.parse((await send(call({ name: 'site_read', arguments: { id: `no-${id}` } }, { id }))).text),
    ),
  );
  expect(answers.map(({ id }) => id)).toEqual(ids);
  expect(answers.every(({ result }) => result.isError)).toBe(true);
});
