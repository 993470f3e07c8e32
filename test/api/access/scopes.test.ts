/**
 * The access check once more: every call and every tool, for callers with tokens of every scope. The campaign has all of them. `npm test`
 * leaves out what other tests prove: whole tokens over HTTP (`access.test.ts`), and that tools respond as calls do (`test/mcp/calls.test.ts`).
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { followed } from '#api/operations/progress.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { textArray } from '#db/arrays.ts';
import { toolName } from '#rules/calls/calls.ts';
import { callWith, errorOf } from '#test/api/fixture.ts';
import { routesOf } from '#test/api/samples.ts';
import { size } from '#test/campaigns/size.ts';
import { callerOf } from '#test/mcp/fixture.ts';
import { again } from '#test/mcp/samples.ts';
import { type AccessFixture, createAccessFixture } from './access-fixture.ts';
import { entryOf, partsOf, pathWith, sentTo } from './access-paths.ts';
import type { Who } from './access-rules.ts';
import { table } from './access-table.ts';
import { expectedWith, mayCall, type ScopeName, scopeNames, scopeOf } from './scope-rules.ts';
import { scopeTable } from './scope-table.ts';

type Holder = keyof AccessFixture['accountIds'];
/** Those who get nothing come first: what they were refused is still there for those who get it. */
const holders: Holder[] = ['stranger', 'invitee', 'payout owner', 'former', 'collaborator', 'owner'];
/** In the order of the table, where some calls make what others are about. */
const routes = Object.keys(table).filter((route) => Object.values(scopeTable).flat().includes(route));

let fixture: AccessFixture;
let otherSite: string;
/** Names of operations, by route. */
let operations: Map<string, string>;
const tokens = new Map<string, { id: string; secret: string }>();
const tokenOf = (who: Holder, scope: ScopeName) => {
  const token = tokens.get(`${who} ${scope}`);
  if (!token) throw new Error(`${who} has no token`);
  return token;
};

beforeAll(async () => {
  // Each call is made several times, each time on something new.
  const limits = {
    payout_accounts: 1_000,
    forms_per_site: 1_000,
    sketches: 1_000,
    feedback_per_day: 1_000,
    sites: 1_000,
  };
  fixture = await createAccessFixture({}, { limits });
  otherSite = (await fixture.anotherSite()).id;
  const described = routesOf(await fixture.document());
  operations = new Map(described.map(({ method, path, operation }) => [`${method} ${path}`, operation.operationId]));
  const { deps, accountIds } = fixture;
  for (const who of holders) {
    for (const name of scopeNames) {
      const scope = scopeOf(name, { site: fixture.siteId, other: otherSite });
      const { token, secret } = await issueToken(deps.em(), deps.clock, accountIds[who], { name, scope });
      tokens.set(`${who} ${name}`, { id: token.id, secret });
    }
  }
}, 60_000);
afterAll(() => fixture?.close());

/** Gives the tokens of the scope `this site` the site that the parts are of. */
async function aimAt(parts: Record<string, string>): Promise<void> {
  const site = parts.siteId ?? (parts.id?.startsWith('site_') ? parts.id : fixture.siteId);
  const ids = holders.map((who) => tokenOf(who, 'this site').id);
  const scope = JSON.stringify(scopeOf('this site', { site, other: otherSite }));
  await fixture.deps.em().execute('update token set scope = ?::jsonb where id = any(?)', [scope, textArray(ids)]);
}

/** What a call is told; `undefined` where it is answered. */
type Ask = (token: string, route: string, parts: Record<string, string>) => Promise<string | undefined>;

const throughHttp: Ask = async (token, route, parts) => {
  const { headers, ...sent } = { headers: {}, ...sentTo(fixture, route) };
  const [method = ''] = route.split(' ');
  const path = `${pathWith(route, parts)}${entryOf(route).query ?? ''}`;
  const all = { ...sent, headers: { prefer: 'respond-async', ...headers } };
  const answer = await callWith(fixture.url, token)(method, path, all);
  return answer.status < 400 ? undefined : errorOf(answer).code;
};

/** The same call as a tool. */
const throughMcp: Ask = async (token, route, parts) => {
  const operation = operations.get(route) ?? '';
  const { body, raw } = sentTo(fixture, route);
  const input = {
    ...Object.fromEntries(Object.entries(parts).filter(([part]) => route.includes(`{${part}}`))),
    ...Object.fromEntries(new URLSearchParams(entryOf(route).query)),
    ...body,
    ...(raw ? { base64: Buffer.from(raw).toString('base64') } : {}),
    ...(operation in followed ? { wait_seconds: 0 } : {}),
  };
  const message = {
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params: paramsFor(toolName(operation), input),
  };
  const headers = { accept: 'application/json, text/event-stream' };
  const { body: answer, text } = await callWith(fixture.url, token)('POST', '/mcp', { body: message, headers });
  if (!answer?.result) throw new Error(`the tool did not answer: ${text.slice(0, 300)}`);
  const { isError, content } = answer.result;
  if (!isError) return undefined;
  const { error, refused } = JSON.parse(content[0].text);
  const refusal = refused?.error ?? error;
  // A long file has no place in a result.
  return refusal.message.includes('too large for a tool') ? undefined : refusal.code;
};

function paramsFor(tool: string, input: object): object {
  const through = callerOf(tool);
  return through
    ? { name: through, arguments: { calls: [{ operation: tool, arguments: input }] } }
    : { name: tool, arguments: input };
}

const surfaces = { HTTP: throughHttp, MCP: throughMcp };

function isAsked(who: Holder, scope: ScopeName, surface: string): boolean {
  if (size !== 'one') return true;
  if (surface === 'HTTP') return scope !== 'everything' && (who === 'owner' || who === 'collaborator');
  return scope === 'everything'
    ? who === 'stranger'
    : who === 'owner' && (scope === 'reader' || scope === 'another site');
}

test('the table lists every call with a token, and the description agrees', async () => {
  const described = routesOf(await fixture.document())
    .filter(({ operation }) => operation.security === undefined)
    .map(({ method, path, operation }) => [`${method} ${path}`, (operation as { 'x-scope'?: string })['x-scope']]);
  const listed = Object.entries(scopeTable).flatMap(([need, calls]) => calls.map((call) => [call, need]));
  expect(listed.sort()).toEqual(described.sort());
});

test.each(routes)('%s responds to tokens of each scope as the table says', async (route) => {
  const told: Record<string, string | undefined> = {};
  const wanted: Record<string, string | undefined> = {};
  let parts = await partsOf(fixture, route);
  let isUsed = false;
  for (const [surface, ask] of Object.entries(surfaces)) {
    for (const scope of scopeNames) {
      const asking = holders.filter((who) => isAsked(who, scope, surface));
      if (asking.length === 0) continue;
      // A call that got through has changed what it is about.
      if (isUsed && mayCall(route, scope)) parts = await partsOf(fixture, route);
      if (scope === 'this site') await aimAt(parts);
      const askAs = async (who: Holder) => {
        told[`${who}, ${scope}, ${surface}`] = await ask(tokenOf(who, scope).secret, route, parts);
      };
      for (const who of asking) wanted[`${who}, ${scope}, ${surface}`] = expectedNext(route, who, scope, wanted);
      if (route.startsWith('GET ') || !mayCall(route, scope)) await Promise.all(asking.map(askAs));
      else for (const who of asking) await askAs(who);
      isUsed ||= mayCall(route, scope);
    }
  }
  expect(told).toEqual(wanted);
});

/** A call with a fixed body may be told something else once it has been answered. */
function expectedNext(route: string, who: Who, scope: ScopeName, before: Record<string, string | undefined>) {
  const usually = expectedWith(route, entryOf(route), who, scope);
  const isAnswered = (key: string) => key.startsWith(`${who}, `) && before[key] === undefined;
  return usually === undefined && Object.keys(before).some(isAnswered) ? again[route] : usually;
}
