/** Times and numbers in requests: how they may be written, and the one sentence about those that may not. */
import { afterAll, expect, test } from 'vitest';
import { z } from 'zod';
import { instant } from '#api/schemas.ts';
import { createFixture, createSite, errorOf } from '#test/api/fixture.ts';
import { bodySchema, routesOf } from '#test/api/samples.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { payingEnv } from '#test/payments/fixture.ts';

const fixture = await createFixture({ ...challengeEnv, ...payingEnv(9) });
afterAll(() => fixture.close());
const owner = await fixture.newCaller();
const { id: siteId } = await createSite(owner, { template: null });
const { body: form } = await owner.call('POST', `/v1/sites/${siteId}/forms`, {
  body: { name: 'F', fields: [{ name: 'a', label: 'A', kind: 'text' }] },
});

test.each([
  ['2026-01-31T12:00:00Z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31t12:00:00z', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T13:00:00+01:00', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31t00:30:00-11:30', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00-00:00', '2026-01-31T12:00:00.000Z'],
  ['2026-02-01T11:59:00+23:59', '2026-01-31T12:00:00.000Z'],
  ['2026-01-31T12:00:00.5Z', '2026-01-31T12:00:00.500Z'],
  ['2026-01-31T12:00:00.123456789Z', '2026-01-31T12:00:00.123Z'],
  ['2024-02-29T12:00:00Z', '2024-02-29T12:00:00.000Z'],
  ['2016-12-31T23:59:60Z', '2016-12-31T23:59:59.000Z'],
  ['2017-01-01T00:59:60.5+01:00', '2016-12-31T23:59:59.500Z'],
  ['0000-01-01T00:00:00Z', '0001-01-01T00:00:00.000Z'],
  ['0001-01-01T00:00:00+23:59', '0001-01-01T00:00:00.000Z'],
  ['9999-12-31T23:59:59-23:59', '9999-12-31T23:59:59.999Z'],
])('the time %s is %s', (written, meant) => {
  expect(instant.parse(written).toISOString()).toBe(meant);
});

const refused = [
  '',
  'now',
  '2026-01-31',
  '2026-01-31T12:00:00',
  '2026-01-31T12:00Z',
  '2026-01-31 12:00:00Z',
  '2026-01-31T12:00:00 01:00',
  '2026-01-31T12:00:00+0100',
  '2026-01-31T12:00:00+01',
  '2026-01-31T12:00:00+24:00',
  '2026-02-30T12:00:00Z',
  '2026-13-01T12:00:00Z',
  '2026-01-31T24:00:00Z',
  '2026-01-31T12:60:00Z',
  '2026-01-31T12:00:61Z',
  '+02026-01-31T12:00:00Z',
  ' 2026-01-31T12:00:00Z',
  '2026-01-31T12:00:00Z\n',
  '٢٠٢٦-01-31T12:00:00Z',
  '1769860800',
];
const sentence = (field: string, place: string) =>
  `The field ${field} ${place} must be an RFC 3339 time with an offset, such as 2026-01-31T12:00:00Z or 2026-01-31T13:00:00+01:00 (in a URL, send %2B for the plus sign).`;

const lastTime = '9999-12-31T23:59:59-23:59';
const lists = [
  `/v1/sites/${siteId}/comments`,
  `/v1/sites/${siteId}/bookings`,
  `/v1/sites/${siteId}/payments`,
  `/v1/forms/${form.id}/submissions`,
  '/v1/inbox',
  `/v1/sites/${siteId}/history`,
  '/v1/account/history',
];

test.each(lists)('%s takes any time, and has one sentence for what is none', async (path) => {
  for (const since of ['2026-01-31t12:00:00z', '2026-01-31T13:00:00+01:00', '0000-01-01T00:00:00Z', lastTime])
    expect((await owner.call('GET', `${path}?since=${encodeURIComponent(since)}`)).status).toBe(200);
  for (const since of refused) {
    const answer = await owner.call('GET', `${path}?since=${encodeURIComponent(since)}`);
    const { code, message } = errorOf(answer);
    expect([since, answer.status, code, message]).toEqual([
      since,
      400,
      'invalid_since',
      sentence('since', 'in the query'),
    ]);
  }
});

test('an expiry in a body is such a time too', async () => {
  const make = (expires_at: unknown) => owner.call('POST', '/v1/tokens', { body: { name: 'a', expires_at } });
  expect((await make('2099-01-31t13:00:00+01:00')).body.expires_at).toBe('2099-01-31T12:00:00.000Z');
  for (const expires_at of [...refused, 5, null, {}, ['2099-01-31T12:00:00Z']]) {
    const { code, message } = errorOf(await make(expires_at));
    expect([expires_at, code, message]).toEqual([expires_at, 'invalid_expiry', sentence('expires_at', 'in the body')]);
  }
});

type Described = { operationId: string; parameters?: { name: string; schema?: unknown }[] };

test('every time in the description of the API is marked as one', async () => {
  const { body } = await owner.call('GET', '/openapi.json');
  const times = routesOf(body).flatMap((route) => {
    const { operationId, parameters = [] } = route.operation as Described;
    const asked = parameters.map(({ name, schema }): [string, unknown] => [name, schema]);
    const all: [string, unknown][] = [...asked, ...Object.entries(bodySchema(route)?.properties ?? {})];
    const named = all.filter(([name]) => /^(since|start|end|expires_at)$/.test(name));
    return named.map(([name, schema]) => ({ operationId, name, schema }));
  });
  expect(times.length).toBeGreaterThan(lists.length);
  for (const time of times) expect(time).toMatchObject({ ...time, schema: { type: 'string', format: 'date-time' } });
  expect(z.toJSONSchema(instant, { io: 'input' })).toMatchObject({ type: 'string', format: 'date-time' });
});

test.each([
  ['GET', '/v1/sites?limit=0', undefined, 'The field limit in the query must be a whole number from 1 to 200.'],
  ['GET', '/v1/sites?limit=201', undefined, 'The field limit in the query must be a whole number from 1 to 200.'],
  ['GET', '/v1/sites?limit=x', undefined, 'The field limit in the query must be a whole number from 1 to 200.'],
  ['GET', '/v1/sites?limit=1.5', undefined, 'The field limit in the query must be a whole number from 1 to 200.'],
  [
    'POST',
    `/v1/sites/${siteId}/git-credentials`,
    { repository: 'source', access: 'read', expires_in_seconds: 59 },
    'The field expires_in_seconds in the body must be a whole number from 60 to 7776000.',
  ],
  [
    'POST',
    `/v1/sites/${siteId}/git-credentials`,
    { repository: 'source', access: 'read', expires_in_seconds: '60' },
    'The field expires_in_seconds in the body must be a whole number from 60 to 7776000.',
  ],
  [
    'POST',
    `/v1/sites/${siteId}/uploads`,
    { max_files: 1001 },
    'The field max_files in the body must be a whole number from 1 to 1000.',
  ],
  [
    'POST',
    `/v1/sites/${siteId}/comments`,
    { page: '/', body: 'x', position: { within: { x: 2, y: 0 } } },
    'must be a number from 0 to 1.',
  ],
  ['POST', `/v1/sites/${siteId}/uploads`, { max_file_bytes: 0 }, 'must be at least 1.'],
])('%s %s names the range of a number: %o', async (method, path, body, words) => {
  const answer = await owner.call(method, path, body ? { body } : {});
  expect([answer.status, errorOf(answer).message]).toEqual([400, expect.stringContaining(words)]);
});
