import { afterAll, expect, test } from 'vitest';
import { challengeEnv } from '#test/forms/fixture.ts';
import { type Answer, createFixture, createSite, errorOf, type Sent } from './fixture.ts';
import {
  bodySchema,
  oddBodies,
  oddHeaders,
  oddPathParts,
  oddQueries,
  type Route,
  routesOf,
  sample,
} from './samples.ts';

const fixture = await createFixture(
  { FRONTAGE_RATE_SCALE: '100000', FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:1', ...challengeEnv },
  { limits: { feedback_per_day: 100_000 } },
);
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const stranger = await fixture.newCaller();
const site = await createSite(owner);
const document = (await owner.call('GET', '/openapi.json')).body;
const routes = routesOf(document).filter(({ path }) => path.startsWith('/v1/'));
const named = routes.map((route) => [`${route.method} ${route.path}`, route] as const);
const closed = named.filter(([, { operation }]) => !operation.security);
const async = { prefer: 'respond-async' };

/** The path with a site that is there, and ids that nothing has. */
function fill({ path }: Route, part?: string): string {
  const own = path.startsWith('/v1/sites/') ? site.id : 'dep_01h455vb4pex5vsknk084sn02q';
  return path.replaceAll(/\{(\w+)\}|\*/g, (_all, name) => part ?? (name === 'id' ? own : '1'));
}

/** Throws unless the answer is a success or a contract error that is nobody's fault but the caller's or the configuration's. */
function judge(answer: Answer, what: string): void {
  if (answer.status < 400) return;
  const { code } = errorOf(answer);
  if (code === 'internal' || code === 'rate_limited') throw new Error(`${what.slice(0, 300)}: ${answer.text}`);
}

const ask = async (route: Route, path: string, sent: Sent = {}) => {
  const answer = await owner.call(route.method, path, { ...sent, headers: { ...async, ...sent.headers } });
  judge(answer, `${route.method} ${path} ${sent.raw ?? JSON.stringify(sent.body)}`);
  return answer;
};

test('the table holds every /v1 route of the app', () => {
  expect(routes.length).toBeGreaterThan(10);
  expect(new Set(routes.map(({ operation }) => operation.operationId)).size).toBe(routes.length);
});

test.each(closed)('%s requires a token before anything else', async (_name, route) => {
  for (const authorization of ['', `Bearer fro_${'0'.repeat(43)}`]) {
    const answer = await stranger.call(route.method, fill(route, '%20'), { headers: { authorization } });
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized']);
  }
});

test.each(named)('%s rejects bodies that do not match its schema', async (_name, route) => {
  const schema = bodySchema(route);
  if (!schema) {
    if (route.method === 'GET') return;
    const answer = await ask(route, fill(route), { body: { no_such_field: 1 } });
    expect(answer.status).toBeGreaterThanOrEqual(400);
    return;
  }
  const unknown = await ask(route, fill(route), { body: { ...(sample(schema) as object), no_such_field: 1 } });
  expect(unknown.status).toBeGreaterThanOrEqual(400);
  for (const body of oddBodies(schema)) await ask(route, fill(route), { body });
});

test.each(named)('%s survives every path, query and header', async (_name, route) => {
  const schema = bodySchema(route);
  const sent: Sent = schema && route.method !== 'GET' ? { body: sample(schema) } : {};
  if (route.path.includes('{')) for (const part of oddPathParts) await ask(route, fill(route, part), sent);
  for (const query of oddQueries) await ask(route, `${fill(route)}?${query}`, sent);
  for (const headers of oddHeaders) await ask(route, fill(route), { ...sent, headers });
  expect((await ask(route, `${fill(route)}?no_such=1`, sent)).status).toBeGreaterThanOrEqual(400);
});

test.each([...new Set(routes.map(({ path }) => path))])('%s refuses unsupported methods', async (path) => {
  const own = routes.filter((route) => route.path === path);
  const methods = own.map(({ method }) => method);
  for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'LOCK']) {
    if (methods.includes(method)) continue;
    const answer = await owner.call(method, fill(own[0] as Route));
    expect([method, answer.status, errorOf(answer).code]).toEqual([method, 405, 'method_not_allowed']);
    const allowed = answer.headers.get('allow')?.split(', ') ?? [];
    expect(methods.every((one) => allowed.includes(one))).toBe(true);
  }
});

test.each(named)("%s shows nothing of another account's", async (_name, route) => {
  if (!route.path.includes('{')) return;
  const schema = bodySchema(route);
  const answer = await stranger.call(route.method, fill(route), schema ? { body: sample(schema), headers: async } : {});
  judge(answer, `${route.method} ${route.path}`);
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(answer.text).not.toContain(site.name);
});
