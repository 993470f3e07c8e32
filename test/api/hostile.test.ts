/** Odd calls to every route, on resources that exist: each is a success or an error of the contract. */
import { afterAll, expect, test } from 'vitest';
import { size } from '#test/campaigns/size.ts';
import { createAccessFixture } from './access/access-fixture.ts';
import { entryOf, partsOf, pathWith, sentTo } from './access/access-paths.ts';
import { type Answer, errorOf, type Sent } from './fixture.ts';
import { bodySchema, oddBodies, oddHeaders, oddPathParts, oddQueries, type Route, routesOf } from './samples.ts';

const fixture = await createAccessFixture({ FRONTAGE_RATE_SCALE: '100000' }, { limits: { feedback_per_day: 100_000 } });
afterAll(() => fixture.close());
const { owner, stranger } = fixture.calls;
const routes = routesOf(await fixture.document()).filter(({ path }) => path.startsWith('/v1/'));
const nameOf = ({ method, path }: Route) => `${method} ${path}`;
const named = routes.map((route) => [nameOf(route), route] as const);
const closed = named.filter(([, { operation }]) => !operation.security);

/** Of oddities that all calls meet in the same code, `npm test` sends each call one in four, beginning at another one; campaigns send all. */
function someOf<Odd>(route: Route, odd: readonly Odd[]): readonly Odd[] {
  const at = routes.indexOf(route);
  return size === 'one' ? odd.filter((_one, index) => index % 4 === at % 4) : odd;
}

const paths = new Map<string, Promise<string>>();
/** The path of the route to a resource of the owner that is made for it. */
function pathOf(name: string): Promise<string> {
  const path = paths.get(name) ?? partsOf(fixture, name).then((parts) => pathWith(name, parts));
  paths.set(name, path);
  return path;
}
const withPart = ({ path }: Route, part: string) => path.replaceAll(/\{\w+\}/g, part);

/** The call that limits how often it is made, as a contract. */
const limited = 'POST /v1/domains/{id}/check';

/** Throws unless the answer is a success or a contract error that is nobody's fault but the caller's or the configuration's. */
async function ask(route: Route, path: string, sent: Sent = {}): Promise<Answer> {
  const answer = await owner(route.method, path, { ...sent, headers: { prefer: 'respond-async', ...sent.headers } });
  if (answer.status < 400) return answer;
  const { code } = errorOf(answer);
  if (code === 'internal' || (code === 'rate_limited' && nameOf(route) !== limited)) {
    const asked = `${route.method} ${path} ${sent.raw ?? JSON.stringify(sent.body)}`;
    throw new Error(`${asked.slice(0, 300)}: ${answer.text}`);
  }
  return answer;
}

/** An account has two of these at a time. */
const long = ['GET /v1/sites/{id}/export', 'POST /v1/deployments/{id}/archive'];

/** Sends these, eight at a time. */
async function askAll(route: Route, all: readonly (readonly [path: string, sent?: Sent])[]): Promise<void> {
  const left = all.values();
  const sender = async () => {
    for (const [path, sent] of left) await ask(route, path, sent);
  };
  await Promise.all(Array.from({ length: long.includes(nameOf(route)) ? 2 : 8 }, sender));
}

test('the table holds every /v1 route of the app', () => {
  expect(routes.length).toBeGreaterThan(10);
  expect(new Set(routes.map(({ operation }) => operation.operationId)).size).toBe(routes.length);
});

test.each(closed)('%s requires a token before anything else', async (_name, route) => {
  for (const authorization of ['', `Bearer fro_${'0'.repeat(43)}`]) {
    const answer = await stranger(route.method, withPart(route, '%20'), { headers: { authorization } });
    expect([answer.status, errorOf(answer).code]).toEqual([401, 'unauthorized']);
  }
});

/** The code of a call with this one fault, unless the deployment has switched the call off. */
function faultOf(name: string, code: string): string {
  const { refusal } = entryOf(name);
  return refusal === 'billing_disabled' || refusal === 'invalid_mode' ? refusal : code;
}

const withJson = named.filter(([name, { method }]) => method !== 'GET' && !entryOf(name).file);
test.each(withJson)('%s rejects bodies that do not match its schema', async (name, route) => {
  const schema = bodySchema(route);
  const path = await pathOf(name);
  const { body: whole = {} } = sentTo(fixture, name);
  const unknown = await ask(route, path, { body: { ...whole, no_such_field: 1 } });
  expect(errorOf(unknown).code).toBe(faultOf(name, 'invalid_json'));
  const bodies = schema ? someOf(route, [...oddBodies(schema, whole)]) : [];
  await askAll(
    route,
    bodies.map((body) => [path, { body }]),
  );
});

test.each(named)('%s survives every path, query and header', async (name, route) => {
  const sent = sentTo(fixture, name);
  const path = await pathOf(name);
  const unknown = await ask(route, `${path}?no_such=1`, sent);
  expect(errorOf(unknown).code).toBe(faultOf(name, 'invalid_input'));
  const parts = route.path.includes('{') ? oddPathParts : [];
  await askAll(route, [
    ...someOf(route, parts).map((part) => [withPart(route, part), sent] as const),
    ...someOf(route, oddQueries(route)).map((query) => [`${path}?${query}`, sent] as const),
    ...someOf(route, oddHeaders).map(
      (headers) => [path, { ...sent, headers: { ...sent.headers, ...headers } }] as const,
    ),
  ]);
});

test.each([...new Set(routes.map(({ path }) => path))])('%s refuses unsupported methods', async (path) => {
  const own = routes.filter((route) => route.path === path);
  const methods = own.map(({ method }) => method);
  const all = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'PROPFIND', 'LOCK'];
  const refused = all.filter((method) => !methods.includes(method));
  for (const method of someOf(own[0] as Route, refused)) {
    const answer = await owner(method, withPart(own[0] as Route, 'x'));
    expect([method, answer.status, errorOf(answer).code]).toEqual([method, 405, 'method_not_allowed']);
    const allowed = answer.headers.get('allow')?.split(', ') ?? [];
    expect(methods.every((one) => allowed.includes(one))).toBe(true);
  }
});
