import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, expect, test } from 'vitest';
import { createFixture, errorOf } from '#test/api/fixture.ts';

const fixture = await createFixture({}, { limits: { feedback_per_day: 5 } });
afterAll(() => fixture.close());

const note = { kind: 'blame', message: 'The message says that my token is wrong; the site was archived.' };
const secret = 'a secret of the tests, long enough';

async function asOperator(...args: string[]) {
  const command = join(import.meta.dirname, '../../operator/admin.ts');
  const env = { ...process.env, DATABASE_URL: fixture.database.url, FRONTAGE_SECRET: secret };
  const { stdout } = await promisify(execFile)(process.execPath, [command, 'feedback', ...args], { env });
  return JSON.parse(stdout);
}
const readAsOperator = async (...args: string[]) => (await asOperator('list', ...args)).items;

test('a note is stored, and the operator reads it', async () => {
  const agent = await fixture.newCaller();
  const context = { call: 'GET /v1/sites', answer: { error: { code: 'unauthorized' } }, request_id: 'req-1', odd: 'ü' };
  const { status, body } = await agent.call('POST', '/v1/feedback', { body: { ...note, context } });
  expect([status, body.kind]).toEqual([200, 'blame']);
  const bare = await agent.call('POST', '/v1/feedback', {
    body: { kind: 'missing', message: '  A call to copy a site.  ' },
  });
  const mine = (await readAsOperator()).filter((one: { account_id: string }) => one.account_id === agent.accountId);
  expect(mine).toEqual([
    {
      id: body.id,
      created_at: body.created_at,
      account_id: agent.accountId,
      account_name: expect.any(String),
      ...note,
      status: 'open',
      answer: null,
      context,
    },
    expect.objectContaining({ id: bare.body.id, message: 'A call to copy a site.', context: null }),
  ]);
  expect(await readAsOperator('--since', new Date(Date.parse(body.created_at) + 60_000).toISOString())).toEqual([]);
});

test('an account reads what became of its own notes', async () => {
  const [agent, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const send = async () => (await agent.call('POST', '/v1/feedback', { body: note })).body;
  const [first, second] = [await send(), await send()];
  await other.call('POST', '/v1/feedback', { body: note });
  await asOperator('answer', '--note', first.id, '--status', 'done', '--answer', 'The message names the site.');
  const { items, next_cursor } = (await agent.call('GET', '/v1/feedback')).body;
  expect([items, next_cursor]).toEqual([
    [
      { ...second, ...note, status: 'open', answer: null, answered_at: null },
      { ...first, status: 'done', answer: 'The message names the site.', answered_at: expect.any(String) },
    ],
    null,
  ]);
  await expect(asOperator('answer', '--note', first.id, '--status', 'well')).rejects.toThrow('planned, done');
});

test('a repeated call stores the note once', async () => {
  const agent = await fixture.newCaller();
  const send = () => agent.call('POST', '/v1/feedback', { body: note, headers: { 'idempotency-key': 'one' } });
  const answers = await Promise.all([send(), send(), send()]);
  expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
  const mine = (await readAsOperator()).filter((one: { account_id: string }) => one.account_id === agent.accountId);
  expect(mine).toHaveLength(1);
});

test.for([
  ['invalid_kind', { ...note, kind: 'praise' }],
  ['invalid_kind', { message: note.message }],
  ['invalid_message', { kind: 'defect' }],
  ['invalid_message', { kind: 'defect', message: '   ' }],
  ['message_too_long', { ...note, message: 'x'.repeat(4001) }],
  ['context_too_large', { ...note, context: 'é'.repeat(8192) }],
] as const)('an invalid note is refused with its reason: %s', async ([code, body]) => {
  const refused = await (await fixture.newCaller()).call('POST', '/v1/feedback', { body });
  expect([refused.status, errorOf(refused).code, errorOf(refused).retryable]).toEqual([400, code, false]);
});

test('the longest note and the largest context are stored', async () => {
  const body = { kind: 'defect', message: 'x'.repeat(4000), context: 'é'.repeat(8191) };
  expect((await (await fixture.newCaller()).call('POST', '/v1/feedback', { body })).status).toBe(200);
});

test('the daily limit on notes holds under concurrent calls, and resets the next day', async () => {
  const agent = await fixture.newCaller();
  const send = () => agent.call('POST', '/v1/feedback', { body: note });
  const answers = await Promise.all(Array.from({ length: 12 }, send));
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(5);
  const refused = answers.filter(({ status }) => status !== 200);
  expect(new Set(refused.map((answer) => errorOf(answer).code))).toEqual(new Set(['rate_limited']));
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(0);
  fixture.skip(24 * 3600_000);
  expect((await send()).status).toBe(200);
});
