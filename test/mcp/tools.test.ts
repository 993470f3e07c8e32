import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { hintsOf, posts } from '#api/mcp/hints.ts';
import { siteInput } from '#api/sites/schemas.ts';
import { toolName } from '#rules/calls/calls.ts';
import { callWith, createFixture, type Fixture } from '#test/api/fixture.ts';
import { type Route, routesOf } from '#test/api/samples.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { payingEnv } from '#test/payments/fixture.ts';
import { type Agent, connect } from './fixture.ts';
import { foundBy } from './samples.ts';

let rich: Fixture;
let poor: Fixture;
const tools = new Map<Fixture, Tool[]>();
const agents: Agent[] = [];

async function toolsOf(fixture: Fixture): Promise<Tool[]> {
  const agent = await connect(fixture.url, (await fixture.newCaller()).token);
  agents.push(agent);
  return await agent.tools();
}

beforeAll(async () => {
  rich = await createFixture({
    FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1',
    FRONTAGE_PHOTOS: 'offline',
    FRONTAGE_SANDBOX: 'auto',
    FRONTAGE_SCREENSHOTS: 'on',
    ...challengeEnv,
    ...payingEnv(9),
  });
  poor = await createFixture({
    FRONTAGE_SANDBOX: 'off',
    FRONTAGE_FILES: 'off',
    FRONTAGE_SKETCHES: 'off',
    FRONTAGE_PREVIEWS: 'off',
    FRONTAGE_BOOKINGS: 'off',
    FRONTAGE_ANALYTICS: 'off',
  });
  for (const fixture of [rich, poor]) tools.set(fixture, await toolsOf(fixture));
});
afterAll(async () => {
  for (const agent of agents) await agent.close();
  await Promise.all([rich?.close(), poor?.close()]);
});

const routes = async (fixture: Fixture): Promise<Route[]> =>
  routesOf((await (await fetch(`${fixture.url}/openapi.json`)).json()) as Parameters<typeof routesOf>[0]).filter(
    ({ path, operation }) => path.startsWith('/v1/') && operation.security === undefined,
  );
const listed = (fixture: Fixture) => tools.get(fixture) ?? [];
const named = (fixture: Fixture, name: string) => listed(fixture).find((tool) => tool.name === name) as Tool;

const found = async (agent: Agent, input: object = {}): Promise<string> => {
  const { content } = await agent.call('find_operations', input);
  return (content as unknown as [{ text: string }])[0].text;
};
const toolOf = ({ operation }: Route) => toolName(operation.operationId);
const httpWords =
  /\b(GET|POST|PUT|PATCH|DELETE) \/|\b(Prefer|Cache-Control|If-Match|Idempotency-Key|event-stream|header)\b/;

test('everyday work has at most 20 tools in 24 KB, without HTTP', async () => {
  const all = listed(rich);
  const { result } = await rawList();
  expect([all.length <= 20, Buffer.byteLength(JSON.stringify(result)) <= 24_000]).toEqual([true, true]);
  for (const { name, description = '', inputSchema, outputSchema } of all) {
    expect(name).toMatch(/^[a-z_]{3,64}$/);
    expect([name, outputSchema, description.length > 10]).toEqual([name, undefined, true]);
    expect([name, JSON.stringify(inputSchema)]).not.toEqual([name, expect.stringMatching(httpWords)]);
    expect(description).not.toMatch(httpWords);
    expect(JSON.stringify(inputSchema)).not.toMatch(/"true","false"|\$ref|⟦/);
  }
});

async function rawList() {
  const message = { jsonrpc: '2.0', id: 1, method: 'tools/list' };
  const { token } = await rich.newCaller();
  const headers = { accept: 'application/json, text/event-stream', authorization: `Bearer ${token}` };
  return (await callWith(rich.url)('POST', '/mcp', { body: message, headers })).body as { result: object };
}

test('every operation is found, with the arguments of its call', async () => {
  const [agent] = agents as [Agent, Agent];
  const index = (await found(agent)).split(/\s+/);
  for (const route of await routes(rich)) {
    const name = toolOf(route);
    // Billing and domains are off here.
    expect([name, index.includes(name)]).toEqual([name, !/^(billing|domain|record)_/.test(name)]);
    if (!index.includes(name)) continue;
    const { operation, path } = route;
    const asked = (operation.parameters ?? []).filter((one) => one.in !== 'header').map((one) => one.name);
    const sent = Object.keys(operation.requestBody?.content['application/json']?.schema?.properties ?? {});
    expect(asked.filter((one) => sent.includes(one))).toEqual([]);
    for (const [, part] of path.matchAll(/\{(\w+)\}/g)) expect(asked).toContain(part);
  }
  const text = await found(agent, { words: 'form create', limit: 1 });
  expect(text).toContain('form_create(id: site_…, name: string, fields: [{ name: string,');
  expect(text).toContain('call_operations {"calls":[{"operation":"form_create","arguments":{"id":"site_…"');
  const create = named(rich, 'site_create').inputSchema;
  expect(create).toMatchObject({ type: 'object', required: ['name', 'title'], additionalProperties: false });
  expect(Object.keys(create.properties ?? {}).sort()).toEqual(
    ['idempotency_key', ...Object.keys(siteInput.shape)].sort(),
  );
});

test.each(foundBy)('“%s” finds %s', async (words, operation) => {
  const text = await found((agents as [Agent, Agent])[0], { words });
  expect(text).toContain(`${operation}(`);
  expect(text).not.toMatch(httpWords);
  expect(text).not.toMatch(/⟦|undefined/);
});

test('the inputs of a comment are explained, also the one called body', async () => {
  const text = await found((agents as [Agent, Agent])[0], { words: 'comment write', limit: 1 });
  expect(text).toContain('Send `page` and `body` to start a thread, or `thread_id` and `action` to change one.');
});

test('fields within an input are explained', async () => {
  const [agent] = agents as [Agent, Agent];
  const redirects = await found(agent, { words: 'set redirects', limit: 1 });
  expect(redirects).toContain('  rules.to: A path or a URL; `:splat` inserts');
  const timetable = await found(agent, { words: 'bookable declare', limit: 1 });
  expect(timetable).toContain('  services.price.amount: In the currency’s minor unit: 2500 means €25.00.');
});

test('examples fit what their texts ask for', async () => {
  const [agent] = agents as [Agent, Agent];
  const example = async (words: string) => await found(agent, { words, limit: 1 });
  expect(await example('skill read')).toContain('skill_read {"path":"SKILL.md"}');
  expect(await example('bookable declare')).toContain('"price":{"amount":4500,"currency":"EUR"}');
  expect(await example('set redirects')).toContain('"to":"https://shop.example/:splat"');
  expect(await example('token create')).toContain('"scope":{"sites":["site_…"],"access":"read"}');
  for (const words of ['photo place', 'asset write', 'asset read'])
    expect([words, await example(words)]).toEqual([words, expect.stringContaining('"path":"src/assets/bakery.jpg"')]);
  expect(await example('payout add')).toContain('"arguments":{"name":"Bakery","rail":"connect"}');
  expect(await example('form create')).toMatch(/"name":"Contact","fields":\[\{"name":"message"/);
});

test('what is found comes in parts', async () => {
  const [agent] = agents as [Agent, Agent];
  const names = (text: string) => [...text.matchAll(/^([a-z_]+)\(/gm)].map(([, name]) => name);
  const first = await found(agent, { words: 'site', limit: 2 });
  const second = await found(agent, { words: 'site', limit: 2, offset: 2 });
  expect([names(first).length, names(second).length]).toEqual([2, 2]);
  expect(first).toMatch(/\d+ more fit (as|less) well: the same words with offset 2\.$/);
  expect(names(first).some((name) => names(second).includes(name))).toBe(false);
});

test('a tool is destructive only where something is lost', async () => {
  for (const { name, annotations = {} } of listed(rich)) {
    for (const hint of ['readOnlyHint', 'destructiveHint', 'idempotentHint', 'openWorldHint'] as const)
      expect([name, annotations[hint]]).toEqual([name, expect.any(Boolean)]);
  }
  for (const route of await routes(rich)) {
    const { operationId } = route.operation;
    const { readOnlyHint, destructiveHint } = hintsOf({ name: operationId, method: route.method });
    if (route.method === 'GET') expect([readOnlyHint, destructiveHint]).toEqual([true, false]);
    else expect([operationId, readOnlyHint]).toEqual([operationId, operationId === 'photo.search']);
    if (route.method === 'DELETE') expect([operationId, destructiveHint]).toEqual([operationId, true]);
    if (['PUT', 'PATCH'].includes(route.method)) expect([operationId, destructiveHint]).toEqual([operationId, false]);
  }
  const hints = (name: string, method = 'POST') => {
    const { destructiveHint, idempotentHint, openWorldHint } = hintsOf({ name, method });
    return [destructiveHint && 'takes away', idempotentHint && 'repeats', openWorldHint && 'reaches out'].filter(
      Boolean,
    );
  };
  expect(hints('payment.refund')).toEqual(['takes away', 'repeats', 'reaches out']);
  expect(hints('payout.replace_key')).toEqual(['takes away', 'repeats', 'reaches out']);
  expect(hints('site.archive')).toEqual(['takes away', 'repeats']);
  for (const name of ['site.publish', 'source.commit', 'bookable.declare', 'deployment.restore', 'site.unarchive'])
    expect([name, ...hints(name)]).toEqual([name, 'repeats']);
  expect(hints('comment.write')).toEqual([]);
  expect(hints('collaborator.invite')).toEqual(['reaches out']);
  const hinted = (name: string) => named(rich, name).annotations;
  expect(hinted('call_operations')).toMatchObject({ readOnlyHint: false, destructiveHint: true });
  for (const name of ['read_operations', 'find_operations'])
    expect(hinted(name)).toMatchObject({ readOnlyHint: true, destructiveHint: false });
});

test('each POST has its effect listed, and no other call has', async () => {
  const all = (await routes(rich))
    .filter(({ method }) => method === 'POST')
    .map(({ operation }) => operation.operationId);
  expect(Object.keys(posts).sort()).toEqual(all.sort());
});

test('operations of disabled capabilities are not found, and a call names the capability', async () => {
  const [, agent] = agents as [Agent, Agent];
  const shown = new Set([...(await found(agent)).split(/\s+/), ...listed(poor).map(({ name }) => name)]);
  for (const noun of [
    'form',
    'photo',
    'preview',
    'sketch',
    'payout',
    'payment',
    'billing',
    'domain',
    'record',
    'upload',
  ])
    expect([...shown].filter((name) => name.startsWith(`${noun}_`))).toEqual([]);
  for (const name of ['site_publish', 'bookable_declare', 'site_analytics', 'collaborator_invite', 'asset_write'])
    expect([name, shown.has(name)]).toEqual([name, false]);
  for (const name of ['site_create', 'source_commit', 'deployment_restore', 'token_create', 'skill_read'])
    expect([name, shown.has(name)]).toEqual([name, true]);
  const { body: site } = await agent.call('site_create', { name: 'poor', title: 'Poor', template: 'blank' });
  expect((await agent.call('form_list', { id: site.id })).error.code).toBe('forms_disabled');
  expect((await agent.call('site_publish', { id: site.id })).error).toMatchObject({
    code: 'publish_disabled',
    next_action: expect.stringContaining('"operation":"deployment_create"'),
  });
});

test('operations beyond the scope of the token are not found', async () => {
  const caller = await rich.newCaller();
  const scope = { sites: 'all', access: 'read', payouts: false, account: false };
  const { body: token } = await caller.call('POST', '/v1/tokens', { body: { name: 'Reader', scope } });
  const agent = await connect(rich.url, token.access_token);
  agents.push(agent);
  const index = (await found(agent)).split(/\s+/);
  for (const name of ['form_create', 'payout_add', 'site_delete', 'source_commit']) expect(index).not.toContain(name);
  for (const name of ['form_list', 'deployment_log', 'feedback_create']) expect(index).toContain(name);
  const unlisted =
    /Not listed .*: `sites:write`, .*`payouts`, `account`\. .* has a link on which the owner allows it\.$/;
  for (const words of ['payout', 'site', 'zzzz', ''])
    expect([words, await found(agent, { words })]).toEqual([words, expect.stringMatching(unlisted)]);
  const finder = (all: Tool[]) => all.find(({ name }) => name === 'find_operations')?.description;
  expect(finder(await agent.tools())).toMatch(unlisted);
  expect(finder(listed(rich))).not.toContain('Not listed');
  const site = (await caller.call('POST', '/v1/sites', { body: { name: `reader-${process.pid}`, title: 'R' } })).body;
  expect((await agent.call('form_create', { id: site.id, name: 'F', fields: [] })).error.code).toBe('out_of_scope');
});
