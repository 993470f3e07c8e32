/** The access check: every route of the API, for every kind of caller. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { routesOf } from '#test/api/samples.ts';
import { type AccessFixture, createAccessFixture } from './access-fixture.ts';
import { expected, type Who } from './access-rules.ts';
import { table } from './access-table.ts';

let fixture: AccessFixture;
beforeAll(async () => {
  fixture = await createAccessFixture();
}, 60_000);
afterAll(() => fixture?.close());

/** Those who get nothing come first: what they were refused is still there for those who get it. */
const everybody: Who[] = [
  'no token',
  'wrong token',
  'stranger',
  'invitee',
  'payout owner',
  'former',
  'collaborator',
  'owner',
];

test('the table lists every route of the API, and no other', async () => {
  const routes = routesOf(await fixture.document()).map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(table).sort()).toEqual(routes.sort());
});

test('only the calls that the description marks as open are open', async () => {
  const open = routesOf(await fixture.document())
    .filter(({ path, operation }) => path.startsWith('/v1/') && operation.security?.length === 0)
    .map(({ method, path }) => `${method} ${path}`);
  const listed = Object.keys(table).filter((name) => name.includes(' /v1/') && table[name]?.rule === 'all');
  expect(listed.sort()).toEqual(open.sort());
});

test.each(Object.entries(table))('%s responds to each caller as the table says', async (name, entry) => {
  const [method = '', pattern = ''] = name.split(' ');
  const known = pattern.startsWith('/v1/deployments/') ? fixture.deploymentId : fixture.siteId;
  const parts: Record<string, string> = { id: known, ...(await entry.path?.(fixture)) };
  const path = pattern.replaceAll(/\{(\w+)\}/g, (_all, part) => parts[part] ?? part);
  const told: Partial<Record<Who, string | undefined>> = {};
  for (const who of everybody) {
    const headers = { prefer: 'respond-async', ...(entry.file ? { 'content-type': 'application/octet-stream' } : {}) };
    const answer = await fixture.calls[who](method, `${path}${entry.query ?? ''}`, {
      headers,
      ...(entry.file ? { raw: entry.file } : {}),
      ...(entry.body === undefined ? {} : { body: entry.body }),
    });
    told[who] = answer.status < 400 ? undefined : errorOf(answer).code;
  }
  expect(told).toEqual(Object.fromEntries(everybody.map((who) => [who, expected(entry, who)])));
});
