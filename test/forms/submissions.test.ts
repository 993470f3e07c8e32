/** One submission: read, marked as spam, deleted. */
import { expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { ada, useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms();

const idsOf = async (formId: string, query = '') =>
  (await ask.submissions(owner, formId, query)).body.items.map(({ id }: { id: string }) => id);
const inboxIds = async () => (await owner.call('GET', '/v1/inbox')).body.items.map(({ id }: { id: string }) => id);

async function sentForm() {
  const form = await ask.newForm(owner);
  const { id } = (await ask.send(form.id)).body;
  return { form, id, path: `/v1/submissions/${id}` };
}

test('a submission is read as it stands in the list', async () => {
  const { form, path } = await sentForm();
  const [listed] = (await ask.submissions(owner, form.id)).body.items;
  const { status, body } = await owner.call('GET', path);
  expect([status, body]).toEqual([200, listed]);
  expect(body).toMatchObject({ form_id: form.id, fields: ada, spam: false, acknowledgement: null });
});

test('a submission marked as spam leaves the list until it is unmarked', async () => {
  const { form, id, path } = await sentForm();
  const other = (await ask.send(form.id)).body.id;
  expect(await inboxIds()).toContain(id);
  const mark = (spam: boolean) => owner.call('PATCH', path, { body: { spam } });
  expect((await mark(true)).body).toMatchObject({ id, spam: true });
  expect((await mark(true)).body).toMatchObject({ id, spam: true });
  expect(await idsOf(form.id)).toEqual([other]);
  expect(await idsOf(form.id, '?spam=true')).toEqual([id]);
  expect((await ask.submissions(owner, form.id, '?format=csv')).text).not.toContain(id);
  expect((await ask.submissions(owner, form.id, '?format=csv&spam=true')).text).toContain(id);
  expect(await inboxIds()).not.toContain(id);
  expect((await owner.call('GET', `/v1/forms/${form.id}`)).body.submissions).toBe(2);
  expect((await mark(false)).body.spam).toBe(false);
  expect(await idsOf(form.id)).toEqual([other, id]);
  expect(await inboxIds()).toContain(id);
  const { items } = (await owner.call('GET', `/v1/sites/${form.site.id}/history`)).body;
  const marks = items.filter(({ action }: { action: string }) => action === 'submission.marked');
  expect(marks.map(({ detail }: { detail: unknown }) => detail)).toEqual([
    { form_id: form.id, spam: false },
    { form_id: form.id, spam: true },
  ]);
});

test('a cursor of one list is refused by the other', async () => {
  const { form } = await sentForm();
  await ask.send(form.id);
  const { next_cursor } = (await ask.submissions(owner, form.id, '?limit=1')).body;
  expect((await ask.submissions(owner, form.id, `?limit=1&cursor=${next_cursor}&spam=true`)).status).toBe(400);
});

test('a confirmed deletion removes one submission for good', async () => {
  const { form, id, path } = await sentForm();
  expect(errorOf(await owner.call('DELETE', path))).toMatchObject({ code: 'confirm_required' });
  expect(await idsOf(form.id)).toEqual([id]);
  expect((await owner.call('DELETE', `${path}?confirm=true`)).body).toMatchObject({ id, fields: ada });
  expect(await idsOf(form.id)).toEqual([]);
  expect(await inboxIds()).not.toContain(id);
  expect(errorOf(await owner.call('GET', path)).code).toBe('not_found');
  expect(errorOf(await owner.call('DELETE', `${path}?confirm=true`)).code).toBe('not_found');
  const [entry] = (await owner.call('GET', `/v1/sites/${form.site.id}/history`)).body.items;
  expect(entry).toMatchObject({ action: 'submission.deleted', subject: { kind: 'submission', id, name: null } });
  expect(JSON.stringify(entry)).not.toContain('Ada');
});

test('two deletions at once remove it once', async () => {
  const { path } = await sentForm();
  const remove = () => owner.call('DELETE', `${path}?confirm=true`);
  const statuses = (await Promise.all([remove(), remove(), remove()])).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 404, 404]);
});

test('an expired submission, another id and a wrong mark are refused', async () => {
  const { id, path } = await sentForm();
  expect(errorOf(await owner.call('PATCH', path, { body: { spam: 'yes' } })).code).toBe('invalid_json');
  for (const other of ['sub_01h455vb4pex5vsknk084sn02q', 'form_x', '__proto__'])
    expect(errorOf(await owner.call('GET', `/v1/submissions/${other}`)).code).toBe('not_found');
  await fixture.deps.em().execute('update submission set expires_at = ? where id = ?', [fixture.clock.now(), id]);
  expect(errorOf(await owner.call('GET', path)).code).toBe('not_found');
});

test('an enquiry in the inbox names its sender and shows one line', async () => {
  const caller = await fixture.newCaller();
  const form = await ask.newForm(caller);
  const field = (name: string, kind: string) => ({ name, label: `Your ${name}`, kind });
  const other = await ask.newForm(caller, { fields: [field('Name', 'text'), field('address', 'email')] }, form.site);
  const bare = await ask.newForm(caller, { fields: [field('size', 'text')] }, form.site);
  await ask.send(form.id, { ...ada, name: 'Ada Lovelace' });
  await ask.send(other.id, { Name: 'Pottery', address: 'pots@example.com' });
  await ask.send(other.id, { Name: ' ', address: 'bob@example.com' });
  await ask.send(bare.id, { size: 'Ada' });
  const long = await ask.send(form.id, { ...ada, name: 'Grace', message: `Two rye\n loaves ${'please '.repeat(600)}` });
  const { items } = (await caller.call('GET', '/v1/inbox')).body;
  const { message, title } = items.find(({ id }: { id: string }) => id === long.body.id);
  expect(title).toBe(`Grace wrote with the form “${form.name}” of ${form.site.title}.`);
  expect(message).toMatch(/Two rye loaves please [^\n]*…$/);
  expect(message).not.toContain('Grace');
  expect(message).toHaveLength(201);
  const named = items.map(({ kind, who }: { kind: string; who: string | null }) => `${kind} ${who}`);
  const whos = ['Ada Lovelace', 'Pottery', 'bob@example.com', null, 'Grace'];
  expect(named.reverse()).toEqual(whos.map((who) => `new_submission ${who}`));
});
