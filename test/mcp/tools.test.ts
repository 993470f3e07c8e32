import type { Tool } from '@modelcontextprotocol/sdk/types.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { posts } from '#api/mcp/hints.ts';
import { siteInput } from '#api/sites/schemas.ts';
import { createFixture, type Fixture } from '#test/api/fixture.ts';
import { type Route, routesOf } from '#test/api/samples.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { payingEnv } from '#test/payments/fixture.ts';
import { type Agent, connect } from './fixture.ts';

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

test('a tool has the client’s words and the description’s summary', async () => {
  for (const { method, path, operation } of await routes(rich)) {
    const tool = named(rich, operation.operationId.replace('.', '_'));
    // Nobody meters or holds domains here.
    expect([operation.operationId, tool === undefined]).toEqual([
      operation.operationId,
      /^(billing|domain|record)\./.test(operation.operationId),
    ]);
    if (tool) {
      expect(tool.name).toMatch(/^[a-z_]{3,64}$/);
      const { summary = '' } = operation as { summary?: string };
      expect([tool.title, tool.description]).toEqual([summary, expect.stringContaining(`Calls ${method} ${path}.`)]);
      expect(tool.description?.startsWith(`${summary}.`)).toBe(true);
    }
  }
  expect(listed(rich).length).toBeGreaterThan(95);
});

test('each input of a call has a unique name in its tool’s inputs', async () => {
  for (const { path, operation } of await routes(rich)) {
    const tool = named(rich, operation.operationId.replace('.', '_'));
    if (!tool) continue;
    const asked = (operation.parameters ?? []).filter((one) => one.in !== 'header').map(({ name }) => name);
    const given = Object.keys(tool.inputSchema.properties ?? {});
    expect(given).toEqual(expect.arrayContaining(asked));
    for (const [, part] of path.matchAll(/\{(\w+)\}/g)) expect(tool.inputSchema.required).toContain(part);
    const body = operation.requestBody?.content['application/json']?.schema;
    const sent = Object.keys(body?.properties ?? {});
    expect(given).toEqual(expect.arrayContaining(sent));
    expect(asked.filter((name) => sent.includes(name))).toEqual([]);
    expect(JSON.stringify(tool)).not.toContain('$ref');
  }
  const { inputSchema, outputSchema } = named(rich, 'site_create');
  expect(inputSchema).toMatchObject({ type: 'object', required: ['name', 'title'], additionalProperties: false });
  expect(Object.keys(inputSchema.properties ?? {}).sort()).toEqual(
    ['idempotency_key', ...Object.keys(siteInput.shape)].sort(),
  );
  expect(outputSchema).toMatchObject({ type: 'object', required: expect.arrayContaining(['id', 'address', 'git']) });
});

test('a tool’s effects are in its annotations', async () => {
  const all = await routes(rich);
  for (const tool of listed(rich)) {
    const method = all.find(({ operation }) => operation.operationId.replace('.', '_') === tool.name)?.method;
    const { readOnlyHint, destructiveHint, idempotentHint, openWorldHint } = tool.annotations ?? {};
    for (const hint of [readOnlyHint, destructiveHint, idempotentHint, openWorldHint])
      expect(hint).toBeTypeOf('boolean');
    if (method === 'GET') expect([readOnlyHint, destructiveHint]).toEqual([true, false]);
    else expect([tool.name, readOnlyHint]).toEqual([tool.name, tool.name === 'photo_search']);
    if (['DELETE', 'PUT', 'PATCH'].includes(method ?? ''))
      expect([tool.name, destructiveHint, idempotentHint]).toEqual([tool.name, true, true]);
  }
  const hints = (name: string) => {
    const { destructiveHint, idempotentHint, openWorldHint } = named(rich, name).annotations ?? {};
    return [destructiveHint && 'takes away', idempotentHint && 'repeats', openWorldHint && 'reaches out'].filter(
      Boolean,
    );
  };
  expect(hints('payment_refund')).toEqual(['takes away', 'repeats', 'reaches out']);
  expect(hints('payout_replace_key')).toEqual(['takes away', 'repeats', 'reaches out']);
  expect(hints('site_archive')).toEqual(['takes away', 'repeats']);
  // What puts something in the place of something else does not only add.
  for (const name of ['site_publish', 'source_commit', 'bookable_declare', 'deployment_restore', 'asset_write'])
    expect([name, ...hints(name)]).toEqual([name, 'takes away', 'repeats']);
  expect(hints('site_unarchive')).toEqual(['repeats']);
  expect(hints('comment_write')).toEqual([]);
  expect(hints('collaborator_invite')).toEqual(['reaches out']);
});

test('each POST has its effect listed, and no other call has', async () => {
  const all = (await routes(rich))
    .filter(({ method }) => method === 'POST')
    .map(({ operation }) => operation.operationId);
  expect(Object.keys(posts).sort()).toEqual(all.sort());
});

test('tools of disabled capabilities are not listed, and calling one names the capability', async () => {
  const nouns = new Set(listed(poor).map(({ name }) => name.split('_')[0]));
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
  ]) {
    expect(nouns).not.toContain(noun);
  }
  for (const name of ['site_publish', 'bookable_declare', 'site_analytics', 'collaborator_invite', 'asset_write']) {
    expect([name, named(poor, name)]).toEqual([name, undefined]);
  }
  expect(listed(poor).map(({ name }) => name)).toEqual(
    expect.arrayContaining(['site_create', 'source_commit', 'deployment_restore', 'token_create', 'skill_read']),
  );
  const [, agent] = agents as [Agent, Agent];
  const { body: site } = await agent.call('site_create', { name: 'poor', title: 'Poor', template: 'blank' });
  expect((await agent.call('form_list', { id: site.id })).error.code).toBe('forms_disabled');
  expect((await agent.call('site_publish', { id: site.id })).error).toMatchObject({
    code: 'publish_disabled',
    next_action: expect.stringContaining('"operation":"deployment_create"'),
  });
});
