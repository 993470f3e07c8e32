/** Several operations in one tool call. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { withResults } from '#api/mcp/batches.ts';
import { createFixture, createSite } from '#test/api/fixture.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { type Agent, connect } from './fixture.ts';

const fixture = await createFixture(challengeEnv);
const owner = await fixture.newCaller();
let agent: Agent;
beforeAll(async () => {
  agent = await connect(fixture.url, owner.token);
});
afterAll(async () => {
  await agent?.close();
  await fixture.close();
});

type Asked = { operation: string; arguments?: object };
async function run(tool: 'read_operations' | 'call_operations', calls: Asked[]) {
  const { isError = false, content } = await agent.call(tool, { calls });
  const [{ text }] = content as unknown as [{ text: string }];
  return { isError, ...JSON.parse(text) };
}
const sites = async (): Promise<string[]> =>
  (await owner.call('GET', '/v1/sites')).body.items.map(({ name }: { name: string }) => name);
const fields = [{ name: 'a', label: 'A', kind: 'text' }];
const create = (name: string) => ({ operation: 'site_create', arguments: { name, title: 'T', template: 'blank' } });

test('calls run in order, and take values of earlier results', async () => {
  const name = `batch-${process.pid}`;
  const { isError, results } = await run('call_operations', [
    create(name),
    { operation: 'form_create', arguments: { id: { $from: [0, 'id'] }, name: 'Contact', fields } },
    { operation: 'form_list', arguments: { id: { $from: [1, 'site_id'] } } },
    { operation: 'form_update', arguments: { id: { $from: [2, 'items', 0, 'id'] }, name: 'Enquiry' } },
    { operation: 'site_read', arguments: { id: name } },
  ]);
  expect([isError, results.length]).toEqual([false, 5]);
  expect([results[3].id, results[3].name, results[4].id]).toEqual([results[1].id, 'Enquiry', results[0].id]);
});

test('a name is found once its site is made or renamed, and under deletion', async () => {
  const [name, next] = [`made-${process.pid}`, `moved-${process.pid}`];
  const named = (operation: string, id: string, more: object = {}) => ({ operation, arguments: { id, ...more } });
  const told = await run('call_operations', [
    create(name),
    named('site_read', name),
    named('site_update', name, { name: next }),
    named('site_archive', next),
    named('site_delete', next, { confirm: true }),
  ]);
  expect([told.isError, told.results?.at(-1).status]).toEqual([false, 'deleting']);
  const restored = await run('call_operations', [named('site_restore', next)]);
  expect(restored.results[0]).toMatchObject({ name: next, status: 'archived' });
});

test('a refusal stops the calls, and says what was done', async () => {
  const [first, last] = [`first-${process.pid}`, `last-${process.pid}`];
  const told = await run('call_operations', [
    create(first),
    { operation: 'form_create', arguments: { id: { $from: [0, 'nothing'] }, name: 'F', fields } },
    create(last),
  ]);
  expect(told).toMatchObject({
    isError: true,
    done: [{ name: first }],
    refused: {
      call: 1,
      operation: 'form_create',
      error: { code: 'invalid_input', message: expect.stringContaining('[0,"nothing"]') },
    },
    not_called: ['site_create'],
  });
  expect(await sites()).toEqual(expect.arrayContaining([first]));
  expect(await sites()).not.toContain(last);
  const { results } = await run('call_operations', [
    { operation: 'form_create', arguments: { id: first, name: 'F', fields } },
  ]);
  const unconfirmed = await run('call_operations', [
    { operation: 'form_delete', arguments: { id: results[0].id } },
    { operation: 'form_list', arguments: { id: first } },
  ]);
  expect(unconfirmed).toMatchObject({
    refused: { call: 0, error: { code: 'confirm_required' } },
    not_called: ['form_list'],
  });
  const confirmed = await run('call_operations', [
    { operation: 'form_delete', arguments: { id: results[0].id, confirm: true } },
  ]);
  expect(confirmed.isError).toBe(false);
});

test('nothing that changes passes through the tool that reads', async () => {
  const before = await sites();
  for (const one of [create('never'), { operation: 'site.create', arguments: create('never').arguments }]) {
    const told = await run('read_operations', [{ operation: 'site_list' }, one]);
    expect(told).toMatchObject({
      isError: true,
      error: { code: 'invalid_input', next_action: expect.stringContaining('call_operations') },
    });
  }
  for (const operation of [
    'call_operations',
    'read_operations',
    'find_operations',
    '__proto__',
    'site_list ',
    '../site_create',
    '',
  ])
    expect([operation, (await run('read_operations', [{ operation }])).error?.code]).toEqual([operation, 'not_found']);
  expect(await sites()).toEqual(before);
  const { results } = await run('read_operations', [{ operation: 'token_list' }, { operation: 'account_read' }]);
  expect([results[0].items.length > 0, results[1].id]).toEqual([true, owner.accountId]);
});

test('a batch has 1 to 20 calls, all of known operations', async () => {
  const before = await sites();
  const unknown = await run('call_operations', [create('never'), { operation: 'site_creat' }]);
  expect(unknown.error).toMatchObject({ code: 'not_found', message: expect.stringContaining('Call 1') });
  const reading = Array.from({ length: 21 }, () => ({ operation: 'account_read' }));
  expect((await run('read_operations', reading)).error.code).toBe('invalid_input');
  expect((await run('read_operations', [])).error.code).toBe('invalid_input');
  expect((await run('read_operations', reading.slice(1))).results.length).toBe(20);
  expect(await sites()).toEqual(before);
});

test('later calls may name all of a list that was shortened', async () => {
  const site = await createSite(owner, { template: 'blank' });
  const body = 'word '.repeat(100).trim();
  for (let n = 0; n < 12; n++) await owner.call('POST', `/v1/sites/${site.id}/comments`, { body: { page: '/', body } });
  const list = { operation: 'comment_list', arguments: { id: site.id } };
  const reply = { operation: 'comment_reply', arguments: { id: { $from: [0, 'items', 11, 'id'] }, message: 'Read.' } };
  const told = await run('call_operations', [...Array(19).fill(list), reply]);
  const [{ items, next_cursor: cursor }] = told.results;
  expect([told.isError, items.length > 0 && items.length < 12]).toEqual([false, true]);
  const next = await run('read_operations', [{ ...list, arguments: { id: site.id, limit: 12, cursor } }]);
  expect(items.length + next.results[0].items.length).toBe(12);
});

test('what was changed is not called again for the rest of its result', async () => {
  const site = await createSite(owner, { template: 'blank' });
  const many = Array.from({ length: 50 }, (_, n) => ({ name: `field_${n}`, label: `Label ${n}`, kind: 'text' }));
  const form = { operation: 'form_create', arguments: { id: site.id, name: 'Long', fields: many } };
  const page = { operation: 'skill_read', arguments: { path: 'SKILL.md' } };
  const { results } = await run('call_operations', [form, ...Array(19).fill(page)]);
  expect(results[0]).toMatch(/\n\[Cut at byte \d+ of \d+\. It was done: do not call it again for the rest\.\]$/);
  expect(results[1]).toMatch(/ Call again with offset \d+ for the rest\.\]$/);
});

const results = [{ id: 'a', items: [{ id: 'b' }] }, { url: 'x' }];
test.each([
  [{ id: { $from: [0, 'id'] } }, { id: 'a' }],
  [{ deep: [{ id: { $from: [0, 'items', 0, 'id'] } }] }, { deep: [{ id: 'b' }] }],
  [{ all: { $from: [0, 'items'] } }, { all: [{ id: 'b' }] }],
  [{ text: 'see {"$from":[0,"id"]}' }, { text: 'see {"$from":[0,"id"]}' }],
])('%j is filled with values, and texts are left alone', (value, filled) => {
  expect(withResults(value, results)).toEqual({ value: filled });
});

test.each([
  { $from: [2, 'id'] },
  { $from: [-1, 'id'] },
  { $from: [0, 'length'] },
  { $from: [0, 'items', 'length'] },
  { $from: ['0', 'id'] },
  { $from: ['__proto__'] },
  { $from: [0, 'constructor'] },
  { $from: 'id' },
  { $from: [] },
  { $from: [0, 'id'], other: 1 },
  JSON.parse(`${'['.repeat(40)}${']'.repeat(40)}`),
])('%j is refused', (value) => {
  expect(withResults({ value }, results)).toEqual({ fault: expect.any(String) });
});

test('values of earlier results fill 1 MiB at most', () => {
  const long = [{ text: 'x'.repeat(400_000) }, undefined];
  const named = (times: number) => ({ texts: Array(times).fill({ $from: [0, 'text'] }) });
  expect(withResults(named(2), long)).toHaveProperty('value.texts.length', 2);
  for (const times of [3, 100_000])
    expect(withResults(named(times), long)).toEqual({ fault: expect.stringContaining('more than 1 MiB') });
  // A file is no value.
  expect(withResults({ text: { $from: [1] } }, long)).toEqual({ fault: expect.stringContaining('Nothing is at [1]') });
});
