import { afterAll, expect, test } from 'vitest';
import { createFixture } from '#test/api/fixture.ts';
import { connect } from './fixture.ts';

const fixture = await createFixture();
const second = await fixture.start();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

const ping = { jsonrpc: '2.0', id: 1, method: 'ping' };
const listing = { jsonrpc: '2.0', id: 2, method: 'tools/list' };
const reading = { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'account_read', arguments: {} } };

/** A message as a client without a library would send it. */
async function send(
  message: unknown,
  headers: Record<string, string | undefined> = {},
  { method = 'POST', url = fixture.url } = {},
) {
  const all = {
    authorization: `Bearer ${owner.token}`,
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    ...headers,
  };
  const sent = Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined);
  const body = typeof message === 'string' ? message : JSON.stringify(message);
  const answer = await fetch(`${url}/mcp`, { method, headers: sent, ...(method === 'POST' ? { body } : {}) });
  const text = await answer.text();
  return {
    status: answer.status,
    headers: answer.headers,
    text,
    body: text.startsWith('{') || text.startsWith('[') ? JSON.parse(text) : undefined,
  };
}

test('without a valid token nothing is answered', async () => {
  for (const authorization of [undefined, 'Bearer x', `Bearer fro_${'A'.repeat(43)}`]) {
    for (const method of ['POST', 'GET', 'DELETE']) {
      const { status, body, headers } = await send(ping, { authorization }, { method });
      expect([method, status, body.error.data.code, body.id]).toEqual([method, 401, 'unauthorized', null]);
      expect(body.error.data.next_action).toMatch(authorization ? /^Connect again/ : /sent no token.*\/llms\.txt/);
      expect(headers.get('www-authenticate')).toMatch(/^Bearer/);
    }
  }
});

test('there are no sessions: GET and DELETE are refused', async () => {
  for (const method of ['GET', 'DELETE']) {
    const { status, headers, body } = await send(undefined, { accept: 'text/event-stream' }, { method });
    expect([status, headers.get('allow'), body.error.data.code]).toEqual([405, 'POST', 'method_not_allowed']);
  }
});

test('any process answers any message, without state', async () => {
  const hello = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } };
  const begun = await send({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello });
  expect(begun.body.result).toMatchObject({
    protocolVersion: '2025-11-25',
    serverInfo: { name: 'frontage', title: 'Frontage' },
  });
  expect(begun.body.result.instructions).toContain('/skill/SKILL.md');
  expect([begun.headers.get('mcp-session-id'), begun.headers.get('cache-control')]).toEqual([null, 'no-store']);
  const noted = await send({ jsonrpc: '2.0', method: 'notifications/initialized' }, {}, { url: second.url });
  expect([noted.status, noted.text]).toEqual([202, '']);
  const called = await send(reading, { 'mcp-protocol-version': '2025-11-25' }, { url: second.url });
  expect(JSON.parse(called.body.result.content[0].text).id).toBe(owner.accountId);
  expect(called.body.result.structuredContent).toBe(undefined);
});

test('a foreign page cannot make calls, with any token', async () => {
  for (const origin of ['https://evil.example', 'null', `${fixture.config.baseUrl}.evil.example`, 'http://localhost']) {
    const { status, body } = await send(reading, { origin });
    expect([origin, status, body.error.message, body.result]).toEqual([origin, 403, expect.any(String), undefined]);
  }
  expect((await send(reading, { origin: fixture.config.baseUrl })).status).toBe(200);
});

test('unknown protocol versions and batches are refused', async () => {
  expect((await send(ping, { 'mcp-protocol-version': '2199-01-01' })).status).toBe(400);
  const cancelling = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 3 } };
  for (const version of [undefined, '2025-03-26', '2025-06-18', '2025-11-25'])
    for (const messages of [[ping, listing], [ping], [], [reading, cancelling], Array(101).fill(ping)]) {
      const { status, body } = await send(messages, { 'mcp-protocol-version': version });
      expect([version, status, body.error.code]).toEqual([version, 400, -32600]);
    }
});

test('an invalid message gets a protocol error', async () => {
  expect((await send('{"jsonrpc":')).body).toMatchObject({
    error: { code: -32700, data: { code: 'invalid_json' } },
    id: null,
  });
  expect((await send({ hello: 1 })).body.error.code).toBe(-32700);
  expect((await send({ ...ping, method: 'no/such' })).body.error.code).toBe(-32601);
  expect((await send({ ...ping, x: 'x'.repeat(1_100_000) })).body.error.data.code).toBe('body_too_large');
  expect((await send({ ...reading, params: { name: 'no_such_tool' } })).body.error).toMatchObject({ code: -32602 });
  expect((await send({ ...reading, params: { name: 'constructor' } })).body.error.code).toBe(-32602);
  expect((await send(ping, { accept: 'text/html' })).status).toBe(406);
  expect((await send('x', { 'content-type': 'text/plain' })).status).toBe(400);
});

test('a tool call is an API call with the request’s id and caller', async () => {
  const before = fixture.logged.length;
  const { headers } = await send(reading);
  const lines = fixture.logged.slice(before) as unknown as { reqId: string; operation: string; account: string }[];
  const own = lines.filter(({ reqId }) => reqId === headers.get('x-request-id'));
  expect(own.map(({ operation, account }) => [operation, account])).toEqual([
    ['account.read', owner.accountId],
    ['mcp.call', owner.accountId],
  ]);
});

test('the token’s limit counts the calls, and messages have their own', async () => {
  const slow = await createFixture({ FRONTAGE_RATE_SCALE: '0.02', FRONTAGE_TRUSTED_PROXIES: '127.0.0.1' });
  try {
    const caller = await slow.newCaller();
    const agent = await connect(slow.url, caller.token);
    // Twelve messages a minute, of which three began; twelve calls a minute, of which nine came in messages.
    for (let n = 0; n < 9; n++) expect((await agent.call('site_list')).isError).toBe(undefined);
    await expect(agent.call('site_list')).rejects.toThrow(/rate_limited/);
    for (let n = 0; n < 3; n++) expect((await caller.call('GET', '/v1/sites')).status).toBe(200);
    expect((await caller.call('GET', '/v1/sites')).status).toBe(429);
    slow.skip(60_000);
    for (let n = 0; n < 12; n++) expect((await caller.call('GET', '/v1/sites')).status).toBe(200);
    expect((await agent.call('site_list')).error).toMatchObject({ code: 'rate_limited', retryable: true });
  } finally {
    await slow.close();
  }
});

test('a revoked token is refused at once', async () => {
  const { body } = await owner.call('POST', '/v1/tokens', { body: { name: 'short' } });
  const agent = await connect(fixture.url, body.access_token);
  expect((await agent.call('account_read')).body.id).toBe(owner.accountId);
  await owner.call('DELETE', `/v1/tokens/${body.id}`);
  await expect(agent.call('account_read')).rejects.toThrow(/401|Unauthorized/i);
});
