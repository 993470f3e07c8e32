/** Every operation is called with a tool, and answers as its call of the API does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessFixture, createAccessFixture } from '#test/api/access/access-fixture.ts';
import { routesOf } from '#test/api/samples.ts';
import { type Agent, connect } from './fixture.ts';
import { again, entries, inputFor, throughApi, whoOf } from './samples.ts';

let fixture: AccessFixture;
const agents = new Map<string, Agent>();
beforeAll(async () => {
  fixture = await createAccessFixture();
  for (const [who, token] of Object.entries(fixture.tokens)) {
    const agent = await connect(fixture.url, token);
    agents.set(who, agent);
  }
}, 60_000);
afterAll(async () => {
  for (const agent of agents.values()) await agent.close();
  await fixture?.close();
});

test.each(entries)('the tool for %s returns what the call returns', async (name, entry) => {
  const routes = routesOf(await fixture.document());
  const route = routes.find(({ method, path }) => `${method} ${path}` === name);
  const operation = route?.operation.operationId ?? '';
  const input = await inputFor(fixture, operation, [name, entry]);
  const agent = agents.get(whoOf(entry)) as Agent;
  const { isError, error, content } = await agent.call(operation.replace('.', '_'), input);
  expect(content).not.toEqual([]);
  // A long file has no place in a result.
  const isAnswered = !isError || error.message.includes('too large for a tool');
  const viaTool = isAnswered ? 'answered' : error.code;
  const viaApi = await throughApi(fixture, name, entry);
  expect([name, viaApi]).toEqual([name, again[name] ?? viaTool]);
});

test('every call with a token has an operation, and every operation an entry here', async () => {
  const routes = routesOf(await fixture.document()).filter(
    ({ path, operation }) => path.startsWith('/v1/') && operation.security === undefined,
  );
  expect(entries.map(([name]) => name).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  const tools = routes.map(({ operation }) => operation.operationId.replace('.', '_'));
  expect(new Set(tools).size).toBe(tools.length);
  const listed = (await (agents.get('owner') as Agent).tools()).map(({ name }) => name);
  expect(listed.filter((name) => !tools.includes(name))).toEqual([
    'find_operations',
    'read_operations',
    'call_operations',
  ]);
});
