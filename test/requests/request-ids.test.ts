/** The id of a request: in every response, and beside a refusal where a program or an agent reads it. */
import { afterAll, expect, test } from 'vitest';
import { callWith, createFixture, createSite } from '#test/api/fixture.ts';

const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1' });
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { id: siteId } = await createSite(owner, { template: null });
const anyone = callWith(fixture.url);
const ours = /^req_[0-9a-f]{24}$/;

test.each([
  ['GET', '/v1/account'],
  ['GET', '/v1/nothing'],
  ['POST', '/v1/account'],
  ['OPTIONS', '/v1/sites'],
  ['GET', '/healthz'],
  ['GET', '/readyz'],
  ['GET', '/openapi.json'],
  ['GET', '/errors'],
  ['GET', '/skill/SKILL.md'],
  ['GET', '/llms.txt'],
  ['GET', '/signin'],
  ['GET', '/account'],
  ['GET', '/nothing/%'],
  ['GET', `/git/${siteId}.git/info/refs?service=git-upload-pack`],
  ['GET', '/git/x'],
  ['GET', '/mcp'],
  ['GET', '/.well-known/oauth-authorization-server'],
  ['POST', '/oauth/token'],
  ['OPTIONS', '/f/form_x'],
  ['GET', '/b/widget.js'],
  ['GET', '/u/fru_x'],
  ['GET', '/pay/pay_x'],
  ['GET', '/review/frame/x'],
  ['POST', '/hooks/payments'],
])('the response to %s %s has a request id', async (method, path) => {
  for (const call of [owner.call, anyone]) {
    const { headers } = await call(method, path);
    expect(headers.get('x-request-id')).toMatch(ours);
  }
});

test('a refused tool call shows its request id, and an answered one none', async () => {
  const callTool = (name: string, args: object) =>
    owner.call('POST', '/mcp', {
      body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args } },
      headers: { accept: 'application/json, text/event-stream', 'mcp-protocol-version': '2025-06-18' },
    });
  for (const [name, args] of [
    ['site_read', { id: 'x' }],
    ['site_read', { id: siteId, unknown: 1 }],
  ] as const) {
    const { headers, body } = await callTool(name, args);
    expect(body.result).toMatchObject({
      isError: true,
      content: [
        { type: 'text', text: expect.stringContaining('"error"') },
        { type: 'text', text: `x-request-id: ${headers.get('x-request-id')}` },
      ],
    });
  }
  const { body } = await callTool('site_read', { id: siteId });
  expect(body.result.content).toHaveLength(1);
});
