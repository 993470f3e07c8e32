/** Every tool is called, and answers as its call of the API does. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Entry, table } from '../api/access-table.ts';
import { type AccessWorld, createAccessWorld } from '../api/access-world.ts';
import { routesOf } from '../api/samples.ts';
import { errorOf } from '../api/world.ts';
import { type Agent, connect } from './world.ts';

let world: AccessWorld;
const agents = new Map<string, Agent>();
beforeAll(async () => {
  world = await createAccessWorld();
  for (const [who, token] of Object.entries(world.tokens)) {
    const agent = await connect(world.url, token);
    // The client holds answers against the schemas of the tools that it has seen listed.
    await agent.tools();
    agents.set(who, agent);
  }
}, 60_000);
afterAll(async () => {
  for (const agent of agents.values()) await agent.close();
  await world?.close();
});

const entries = Object.entries(table).filter(([name]) => name.includes(' /v1/') && !name.includes('/v1/auth/'));
const whoOf = ({ rule }: Entry) => (rule === 'invitee' ? 'invitee' : 'owner');

async function partsFor(name: string, entry: Entry): Promise<Record<string, string>> {
  const known = name.includes(' /v1/deployments/') ? world.deploymentId : world.siteId;
  return { ...(name.includes('{id}') ? { id: known } : {}), ...(await entry.path?.(world)) };
}

/** Only what the path names: makers of the table answer more than that. */
const inPath = (name: string, parts: Record<string, string>) =>
  Object.fromEntries(Object.entries(parts).filter(([part]) => name.includes(`{${part}}`)));

async function throughApi(name: string, entry: Entry): Promise<string> {
  const parts = await partsFor(name, entry);
  const [method = '', pattern = ''] = name.split(' ');
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_all, part) => parts[part] ?? part);
  const answer = await world.calls[whoOf(entry)](method, `${path}${entry.query ?? ''}`, {
    headers: { prefer: 'respond-async', ...(entry.file ? { 'content-type': 'application/octet-stream' } : {}) },
    ...(entry.file ? { raw: entry.file } : {}),
    ...(entry.body === undefined ? {} : { body: entry.body }),
  });
  return answer.status < 400 ? 'answered' : errorOf(answer).code;
}

type Through = { tool: string; waits: boolean; entry: Entry };

async function throughTool(name: string, { tool, waits, entry }: Through): Promise<string> {
  const input = {
    ...inPath(name, await partsFor(name, entry)),
    ...Object.fromEntries(new URLSearchParams(entry.query)),
    ...(entry.body as object | undefined),
    ...(entry.file ? { base64: entry.file.toString('base64') } : {}),
    ...(waits ? { wait_seconds: 0 } : {}),
  };
  const { isError, error, content } = await (agents.get(whoOf(entry)) as Agent).call(tool, input);
  expect(content).not.toEqual([]);
  return isError ? error.code : 'answered';
}

/** What the second of two same calls is told, where the first has changed something for it. */
const again: Record<string, string> = {
  'PATCH /v1/account': 'nothing_to_update',
  'POST /v1/sites/{id}/collaborators': 'already_invited',
};

test.each(entries)('the tool for %s answers what the call answers', async (name, entry) => {
  const routes = routesOf(await world.document());
  const route = routes.find(({ method, path }) => `${method} ${path}` === name);
  const tool = route?.operation.operationId.replace('.', '_') ?? '';
  const waits =
    /^(site_publish|deployment_complete|preview_(publish|build|update)|domain_(onboard|check|attach))$/.test(tool);
  const viaTool = await throughTool(name, { tool, waits, entry });
  const viaApi = await throughApi(name, entry);
  expect([name, viaApi]).toEqual([name, again[name] ?? viaTool]);
});

test('no call of the API that takes a token is without its tool, and no tool without its entry above', async () => {
  const routes = routesOf(await world.document()).filter(
    ({ path, operation }) => path.startsWith('/v1/') && operation.security === undefined,
  );
  expect(entries.map(([name]) => name).sort()).toEqual(routes.map(({ method, path }) => `${method} ${path}`).sort());
  const tools = routes.map(({ operation }) => operation.operationId.replace('.', '_'));
  expect(new Set(tools).size).toBe(tools.length);
  const listed = (await (agents.get('owner') as Agent).tools()).map(({ name }) => name);
  expect(listed.filter((name) => !tools.includes(name))).toEqual([]);
});
