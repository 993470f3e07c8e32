/** Bodies that no form takes, and bounds on what is taken. */
import { expect, test } from 'vitest';
import { createFixture, errorOf } from '#test/api/fixture.ts';
import { ada, challengeEnv, forms, useForms } from './fixture.ts';

const { ask, owner } = await useForms();
const form = await ask.newForm(owner);

const count = async () => (await owner.call('GET', `/v1/forms/${form.id}`)).body.submissions;

test.each<[string, string, string | Buffer, string]>([
  ['no JSON', 'application/json', '{', 'invalid_json'],
  ['a list', 'application/json', '[]', 'invalid_json'],
  ['bytes that are not text', 'application/json', Buffer.from([0x7b, 0xff, 0x7d]), 'invalid_json'],
  ['an object as an answer', 'application/json', '{"name":{"a":1}}', 'invalid_fields'],
  ['a prototype', 'application/json', '{"__proto__":"x","name":"A","email":"a@example.com"}', 'invalid_fields'],
  ['a NUL', 'application/json', '{"name":"a\\u0000","email":"a@example.com"}', 'invalid_fields'],
  ['an unpaired surrogate', 'application/json', '{"name":"\\ud800","email":"a@example.com"}', 'invalid_fields'],
  ['a field twice', 'application/x-www-form-urlencoded', 'name=a&name=b&email=a@example.com', 'invalid_fields'],
  [
    'thousands of fields',
    'application/x-www-form-urlencoded',
    Array.from({ length: 5000 }, (_, i) => `f${i}=1`).join('&'),
    'invalid_fields',
  ],
  ['nothing', 'application/x-www-form-urlencoded', '', 'invalid_fields'],
  ['an unknown type', 'text/plain', 'name=a', 'invalid_json'],
  ['parts without a boundary', 'multipart/form-data', 'x', 'invalid_json'],
  [
    'parts that break off',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="a"\r\n\r\nx',
    'invalid_json',
  ],
  [
    'a file',
    'multipart/form-data; boundary=b',
    '--b\r\ncontent-disposition: form-data; name="a"; filename="a.txt"\r\n\r\nx\r\n--b--\r\n',
    'invalid_fields',
  ],
])('a body with %s is refused and not stored', async (_what, type, raw, code) => {
  const before = await count();
  const answer = await ask.visitor('POST', `/f/${form.id}`, {
    raw,
    headers: { 'content-type': type, accept: 'application/json' },
  });
  expect([answer.status, errorOf(answer).code]).toEqual([400, code]);
  expect(await count()).toBe(before);
});

test('a body over 1 MiB is refused, as JSON and as a page', async () => {
  const raw = `name=${'x'.repeat(1_048_577)}`;
  const type = { 'content-type': 'application/x-www-form-urlencoded' };
  const data = await ask.visitor('POST', `/f/${form.id}`, { raw, headers: { ...type, accept: 'application/json' } });
  expect([data.status, errorOf(data).code]).toEqual([400, 'body_too_large']);
  const page = await ask.visitor('POST', `/f/${form.id}`, { raw, headers: { ...type, accept: 'text/html' } });
  expect([page.status, page.headers.get('content-type')]).toEqual([400, 'text/html; charset=utf-8']);
});

test('an address sends thirty forms a minute, and then learns when to retry', async () => {
  const limited = await createFixture({ ...challengeEnv, FRONTAGE_RATE_SCALE: '0.1' });
  try {
    const there = forms(limited);
    const made = await there.newForm(await limited.newCaller());
    const tries = [];
    for (let round = 0; round < 4; round++) tries.push(await there.visitor('POST', `/f/${made.id}`, { body: ada }));
    expect(tries.map((answer) => errorOf(answer).code)).toEqual([...Array(3).fill('not_a_person'), 'rate_limited']);
    expect(Number(tries[3]?.headers.get('retry-after'))).toBeGreaterThan(0);
    expect(tries[3]?.headers.get('ratelimit-limit')).toBe('3');
    const page = await there.post(made.id, ada);
    expect([page.status, page.text.includes('Send again'), page.text.includes('Bread, please')]).toEqual([
      429,
      true,
      true,
    ]);
  } finally {
    await limited.close();
  }
});
