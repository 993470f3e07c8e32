/** The access check: every route of the API, for every kind of caller. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { routesOf } from '#test/api/samples.ts';
import { type AccessFixture, createAccessFixture } from './access-fixture.ts';
import { entryOf, madeUp, partsOf, pathWith, sentTo } from './access-paths.ts';
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

test('the description says which calls only the owner can make, or make in part', async () => {
  const routes = routesOf(await fixture.document());
  const owned = routes.filter(({ operation }) => 'x-owner-only' in operation);
  const listed = Object.keys(table).filter((name) => table[name]?.rule === 'owner');
  expect(owned.map(({ method, path }) => `${method} ${path}`).sort()).toEqual(listed.sort());
  const said = new Map(
    routes.map(({ method, path, operation: { description = '' } }) => {
      return [`${method} ${path}`, /Only the owner of the site can [^.]+/.exec(description)?.[0]];
    }),
  );
  expect(said.get('POST /v1/sites/{id}/archive')).toBe('Only the owner of the site can make this call');
  expect(said.get('PATCH /v1/sites/{id}')).toBe('Only the owner of the site can change the name');
  expect(said.get('POST /v1/bookings/{id}/cancel')).toContain('where money goes back');
});

test('every resource that a caller does not find is one that another caller finds', () => {
  const closed = Object.entries(table).filter(([, { rule, refusal }]) => rule !== 'all' && refusal === 'not_found');
  // Its items are in the body, and each caller has others.
  expect(closed.map(([name]) => name)).toEqual(['POST /v1/inbox/done']);
});

const ask = (route: string, who: Who, path: string): Promise<Answer> => {
  const { headers, ...sent } = { headers: {}, ...sentTo(fixture, route) };
  const [method = ''] = route.split(' ');
  const query = entryOf(route).query ?? '';
  return fixture.calls[who](method, `${path}${query}`, { ...sent, headers: { prefer: 'respond-async', ...headers } });
};

test.each(Object.keys(table))('%s responds to each caller as the table says', async (route) => {
  const path = pathWith(route, await partsOf(fixture, route));
  const told: Partial<Record<Who, string | undefined>> = {};
  for (const who of everybody) {
    const answer = await ask(route, who, path);
    told[who] = answer.status < 400 ? undefined : errorOf(answer).code;
    if (who !== 'stranger' || told[who] !== 'not_found') continue;
    // Nothing tells the caller that this one exists.
    const { request_id: _one, ...error } = errorOf(answer);
    const { request_id: _other, ...usual } = errorOf(await ask(route, who, madeUp(path)));
    expect(error).toEqual(usual);
  }
  const entry = entryOf(route);
  expect(told).toEqual(Object.fromEntries(everybody.map((who) => [who, expected(entry, who)])));
});

test.each(['collaborators/{account_id}', 'invitations/{invitation_id}'])(
  'DELETE …/%s does not reach a resource of the owner’s other site',
  async (last) => {
    const route = `DELETE /v1/sites/{id}/${last}`;
    const parts = await partsOf(fixture, route);
    const elsewhere = { ...parts, ...(await fixture.anotherSite()) };
    const refused = await ask(route, 'owner', pathWith(route, elsewhere));
    expect([refused.status, errorOf(refused).code]).toEqual([404, 'not_found']);
    expect((await ask(route, 'owner', pathWith(route, parts))).status).toBe(200);
  },
);
