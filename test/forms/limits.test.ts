/** What of forms is capped, switched off, past its time, or another's. */
import { expect, test } from 'vitest';
import { newId } from '#runtime/ids.ts';
import { callWith, createFixture, errorOf, type Sent } from '#test/api/fixture.ts';
import { ada, challengeEnv, contactFields, forms, useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' });

const dayMs = 24 * 3600_000;

test('the cap on forms holds under concurrent calls, for each site', async () => {
  const small = await createFixture(challengeEnv, { limits: { forms_per_site: 3 } });
  try {
    const here = forms(small);
    const caller = await small.newCaller();
    const site = await here.newSite(caller);
    const make = () =>
      caller.call('POST', `/v1/sites/${site.id}/forms`, { body: { name: 'F', fields: contactFields } });
    const answers = await Promise.all(Array.from({ length: 8 }, make));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
    const refused = answers.find(({ status }) => status !== 200);
    expect(refused && [refused.status, errorOf(refused).code]).toEqual([402, 'plan_limit']);
    await here.newForm(caller);
    const [first] = answers.filter(({ status }) => status === 200);
    await caller.call('DELETE', `/v1/forms/${first?.body.id}?confirm=true`);
    expect((await make()).status).toBe(200);
  } finally {
    await small.close();
  }
});

test('requests for forms that do not exist are limited like others', async () => {
  const limited = await createFixture({ ...challengeEnv, FRONTAGE_RATE_SCALE: '0.1' });
  try {
    const visitor = callWith(limited.url);
    const statuses = async (method: string, times: number, sent: Sent = {}) => {
      const answers = [];
      for (let n = 0; n < times; n++) answers.push((await visitor(method, `/f/${newId('form')}`, sent)).status);
      return answers;
    };
    expect(await statuses('POST', 5, { body: ada })).toEqual([404, 404, 404, 429, 429]);
    const reads = await statuses('GET', 32, { headers: { accept: 'application/json' } });
    expect(reads).toEqual([...Array(30).fill(404), 429, 429]);
  } finally {
    await limited.close();
  }
});

test('without a challenge key the platform accepts no forms', async () => {
  const without = await createFixture();
  try {
    const caller = await without.newCaller();
    const site = await forms(without).newSite(caller);
    for (const [method, path] of [
      ['POST', `/v1/sites/${site.id}/forms`],
      ['GET', `/v1/sites/${site.id}/forms`],
      ['GET', '/v1/forms/form_x'],
    ] as const) {
      const answer = await caller.call(method, path, method === 'POST' ? { body: { nonsense: 1 } } : {});
      expect([answer.status, errorOf(answer).code]).toEqual([503, 'forms_disabled']);
    }
    expect((await caller.call('GET', '/v1/account')).body.capabilities.forms).toBe(false);
  } finally {
    await without.close();
  }
});

test('an archived site’s forms are readable and closed', async () => {
  const form = await ask.newForm(owner);
  await ask.send(form.id);
  await owner.call('POST', `/v1/sites/${form.site.id}/archive`);
  for (const [method, path, body] of [
    ['POST', `/v1/sites/${form.site.id}/forms`, { name: 'F', fields: contactFields }],
    ['PATCH', `/v1/forms/${form.id}`, { name: 'F' }],
    ['POST', `/v1/forms/${form.id}/disable`, {}],
    ['DELETE', `/v1/forms/${form.id}?confirm=true`, undefined],
  ] as const) {
    const answer = await owner.call(method, path, body === undefined ? {} : { body });
    expect([method, errorOf(answer).code]).toEqual([method, 'site_archived']);
  }
  const sent = await ask.visitor('POST', `/f/${form.id}`, { body: ada });
  expect([sent.status, errorOf(sent).code]).toEqual([409, 'site_archived']);
  expect((await ask.submissions(owner, form.id)).body.items).toHaveLength(1);
});

test('submissions are listed newest first, in pages, since a time, for 180 days', async () => {
  const form = await ask.newForm(owner);
  const sent: string[] = [];
  for (const name of ['One', 'Two', 'Three']) {
    sent.unshift((await ask.send(form.id, { ...ada, name })).body.id);
  }
  const all = await ask.submissions(owner, form.id);
  expect(all.body.items.map(({ id }: { id: string }) => id)).toEqual(sent);
  const [first] = all.body.items;
  expect(first).toMatchObject({ form_id: form.id, fields: { ...ada, name: 'Three' }, page: null, mail: 'queued' });
  expect(new Date(first.expires_at).getTime() - new Date(first.created_at).getTime()).toBe(180 * dayMs);

  const page = await ask.submissions(owner, form.id, '?limit=2');
  const rest = await ask.submissions(owner, form.id, `?limit=2&cursor=${page.body.next_cursor}`);
  expect([...page.body.items, ...rest.body.items]).toEqual(all.body.items);
  expect(rest.body.next_cursor).toBe(null);
  const other = await ask.newForm(owner);
  const elsewhere = await ask.submissions(owner, other.id, `?cursor=${page.body.next_cursor}`);
  expect(errorOf(elsewhere).code).toBe('invalid_cursor');
  const since = await ask.submissions(owner, form.id, `?since=${encodeURIComponent(first.created_at)}`);
  expect(since.body.items.map(({ id }: { id: string }) => id)).toEqual([first.id]);
  for (const [query, code] of [
    ['?since=yesterday', 'invalid_since'],
    ['?limit=0', 'invalid_limit'],
    ['?format=xlsx', 'invalid_format'],
    ['?status=new', 'invalid_input'],
  ] as const) {
    const answer = await ask.submissions(owner, form.id, query);
    expect([query, answer.status, errorOf(answer).code]).toEqual([query, 400, code]);
  }
});

test('another account’s forms are not found', async () => {
  const form = await ask.newForm(owner);
  const stranger = await fixture.newCaller();
  for (const [method, path] of [
    ['GET', `/v1/sites/${form.site.id}/forms`],
    ['GET', `/v1/forms/${form.id}`],
    ['PATCH', `/v1/forms/${form.id}`],
    ['DELETE', `/v1/forms/${form.id}?confirm=true`],
    ['POST', `/v1/forms/${form.id}/disable`],
    ['POST', `/v1/forms/${form.id}/enable`],
    ['GET', `/v1/forms/${form.id}/submissions`],
    ['GET', `/v1/forms/${form.id}/submissions?format=csv`],
  ] as const) {
    const answer = await stranger.call(method, path, method === 'PATCH' ? { body: { name: 'Mine' } } : {});
    expect([method, path, errorOf(answer).code]).toEqual([method, path, 'not_found']);
  }
});
