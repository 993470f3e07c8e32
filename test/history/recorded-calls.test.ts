/** Every changing call of the API records what it does, or says why not. */
import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actionNames } from '#rules/history.ts';
import { type AccessFixture, createAccessFixture } from '#test/api/access/access-fixture.ts';
import { entryOf, partsOf, pathWith, sentTo } from '#test/api/access/access-paths.ts';
import type { Who } from '#test/api/access/access-rules.ts';
import { routesOf } from '#test/api/samples.ts';
import { recordedCalls, shownByTest, shownElsewhere, unchanging } from './recorded-calls.ts';

let fixture: AccessFixture;
beforeAll(async () => {
  fixture = await createAccessFixture();
}, 60_000);
afterAll(() => fixture?.close());

const isChanging = (route: string) => !route.startsWith('GET ');

test('each changing call records an action, or has a reason not to', async () => {
  const routes = routesOf(await fixture.document()).map(({ method, path }) => `${method} ${path}`);
  expect(Object.keys(recordedCalls).sort()).toEqual(routes.filter(isChanging).sort());
});

test('each action is declared by a call or shown by a test', () => {
  const byCalls = Object.values(recordedCalls).flatMap((actions) => (typeof actions === 'string' ? [] : actions));
  const known = [...byCalls, ...Object.keys(shownByTest)];
  expect([...new Set(known)].sort()).toEqual([...actionNames].sort());
});

test('a test that shows an action names it', () => {
  const byCalls = Object.entries(shownElsewhere).flatMap(([route, file]) =>
    [recordedCalls[route] ?? []].flat().map((action) => [action, file] as const),
  );
  for (const [action, file] of [...Object.entries(shownByTest), ...byCalls])
    expect([action, readFileSync(file, 'utf8').includes(`'${action}'`)]).toEqual([action, true]);
});

/** Who gets through. */
const whoOf = (route: string): Who => {
  const { rule } = entryOf(route);
  if (rule === 'invitee' || rule === 'collaborator') return rule;
  return rule === 'parties' || rule === 'sides' ? 'payout owner' : 'owner';
};

async function lastId(): Promise<string> {
  const [row] = await fixture.deps.em().execute<{ id: string }[]>('select max(id) as id from history_entry');
  return row?.id ?? '';
}

async function recordedAfter(id: string): Promise<{ action: string; via_kind: string; via_name: string }[]> {
  return await fixture.deps
    .em()
    .execute('select action, via_kind, via_name from history_entry where id > ? order by id', [id]);
}

const tried = Object.entries(recordedCalls).filter(([route]) => !(route in shownElsewhere));

test.each(tried)('%s records what it did', async (route, actions) => {
  const isCancel = route === 'POST /v1/bookings/{id}/cancel';
  const parts = isCancel ? await fixture.booking() : await partsOf(fixture, route);
  const path = pathWith(route, parts);
  const before = await lastId();
  const [method = ''] = route.split(' ');
  const { headers, ...sent } = { headers: {}, ...sentTo(fixture, route) };
  const { refusal, query = refusal === 'confirm_required' ? '?confirm=true' : '' } = entryOf(route);
  const options = { ...sent, headers: { prefer: 'respond-async', ...headers } };
  const answer = await fixture.calls[whoOf(route)](method, `${path}${query}`, options);
  if (typeof actions !== 'string') expect([answer.status, answer.text]).toEqual([200, expect.any(String)]);
  const recorded = await recordedAfter(before);
  const expected = unchanging.includes(route) || typeof actions === 'string' ? [] : actions;
  expect(recorded.map(({ action }) => action)).toEqual(expect.arrayContaining(expected));
  expect(recorded.length > 0).toBe(expected.length > 0);
  for (const one of recorded) expect(one).toMatchObject({ via_kind: 'token', via_name: 'first' });
});
