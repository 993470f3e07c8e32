/** Forms as those see them who may act on the site. */
import { expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { html } from '#web/html.ts';
import { ada, contactFields, useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9' });

test('a form has a permanent address, is read, listed and changed', async () => {
  const site = await ask.newSite(owner);
  const form = await ask.newForm(owner, {}, site);
  expect(form).toMatchObject({
    name: 'Contact',
    site_id: site.id,
    status: 'enabled',
    action_url: `${fixture.config.baseUrl}/f/${form.id}`,
    embed: expect.stringContaining(`action="${fixture.config.baseUrl}/f/${form.id}"`),
    embed_url: `${fixture.config.baseUrl}/f/${form.id}/embed.html`,
    notify_to: await ask.emailOf(owner),
    notify_options: [await ask.emailOf(owner)],
    submissions: 0,
    mail: null,
    challenge: { kind: 'altcha', url: `${fixture.config.baseUrl}/f/${form.id}/challenge` },
  });
  expect(form.fields).toEqual([contactFields[0], contactFields[1], { ...contactFields[2], required: false }]);
  const second = await ask.newForm(owner, { name: 'Another' }, site);
  const list = await owner.call('GET', `/v1/sites/${site.id}/forms?limit=1`);
  expect(list.body.items.map(({ id }: { id: string }) => id)).toEqual([second.id]);
  const rest = await owner.call('GET', `/v1/sites/${site.id}/forms?cursor=${list.body.next_cursor}`);
  const { site: _site, ...shown } = form;
  expect(rest.body).toEqual({ items: [shown], next_cursor: null });

  const changed = await owner.call('PATCH', `/v1/forms/${form.id}`, {
    body: { name: 'Write to us', fields: [contactFields[1], contactFields[0]] },
  });
  expect(changed.body).toMatchObject({ id: form.id, name: 'Write to us', action_url: form.action_url });
  expect((await owner.call('GET', `/v1/forms/${form.id}`)).body).toEqual(changed.body);
  // The site moves, and what is in its pages goes on.
  await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { name: `${site.name}-moved` } });
  expect((await owner.call('GET', `/v1/forms/${form.id}`)).body.action_url).toBe(form.action_url);
  expect((await ask.send(form.id)).status).toBe(200);
});

test('a form whose answer was lost does not come back after its deletion', async () => {
  const path = `/v1/sites/${(await ask.newSite(owner)).id}/forms`;
  const sent = { body: { name: 'Contact', fields: contactFields }, headers: { 'idempotency-key': 'lost' } };
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await owner.call('POST', path, sent)).status).toBe(500);
  restore();
  const [{ id }] = (await owner.call('GET', path)).body.items;
  expect((await owner.call('DELETE', `/v1/forms/${id}?confirm=true`)).status).toBe(200);
  expect(errorOf(await owner.call('POST', path, sent)).code).toBe('not_found');
  expect((await owner.call('GET', path)).body.items).toEqual([]);
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('the page at embed_url shows the HTML to paste, and the form', async () => {
  const form = await ask.newForm(owner);
  const { status, text } = await ask.visitor('GET', new URL(String(form.embed_url)).pathname);
  expect([status, text.match(/<form /g)?.length]).toEqual([200, 1]);
  expect(text).toContain(`<code>${html`${String(form.embed)}`.markup}</code>`);
  expect((await ask.visitor('GET', '/f/form_none/embed.html')).status).toBe(404);
});

test('a repeated call creates one form, and returns its current state', async () => {
  const site = await ask.newSite(owner);
  const body = { name: 'Once', fields: contactFields };
  const make = () => owner.call('POST', `/v1/sites/${site.id}/forms`, { body, headers: { 'idempotency-key': 'once' } });
  const [first, again] = await Promise.all([make(), make()]);
  expect(again.body.id).toBe(first.body.id);
  await owner.call('POST', `/v1/forms/${first.body.id}/disable`);
  expect((await make()).body).toMatchObject({ id: first.body.id, status: 'disabled' });
  expect((await owner.call('GET', `/v1/sites/${site.id}/forms`)).body.items).toHaveLength(1);
});

test.each([
  ['no name', { name: ' ' }, 'invalid_name'],
  ['no fields', { fields: undefined }, 'invalid_fields'],
  ['an empty list', { fields: [] }, 'invalid_fields'],
  ['an unknown kind', { fields: [{ name: 'a', label: 'A', kind: 'file' }] }, 'invalid_fields'],
  ['a field twice', { fields: [contactFields[0], contactFields[0]] }, 'invalid_fields'],
  ['an unknown part of a field', { fields: [{ ...contactFields[0], pattern: 'x' }] }, 'invalid_json'],
  ['an invalid address', { notify_to: 'Ada <ada@example.com>' }, 'invalid_notify_to'],
  ['a number as an address', { notify_to: 5 }, 'invalid_notify_to'],
  ['a stranger’s address', { notify_to: 'stranger@example.com' }, 'notify_to_not_on_site'],
  ['an unknown field', { action_url: 'https://example.com' }, 'invalid_json'],
])('a form with %s is refused', async (_what, part, code) => {
  const site = await ask.newSite(owner);
  const made = await owner.call('POST', `/v1/sites/${site.id}/forms`, {
    body: { name: 'Contact', fields: contactFields, ...part },
  });
  expect(errorOf(made).code).toBe(code);
  expect((await owner.call('GET', `/v1/sites/${site.id}/forms`)).body.items).toEqual([]);
  const form = await ask.newForm(owner, {}, site);
  if (!('fields' in part && part.fields === undefined)) {
    expect(errorOf(await owner.call('PATCH', `/v1/forms/${form.id}`, { body: part })).code).toBe(code);
  }
});

test('an empty change is nothing_to_update', async () => {
  const form = await ask.newForm(owner);
  expect(errorOf(await owner.call('PATCH', `/v1/forms/${form.id}`, { body: {} })).code).toBe('nothing_to_update');
});

test('notify_to is a member’s address, and returns to the owner with the member’s access', async () => {
  const site = await ask.newSite(owner);
  const member = await ask.newCollaborator(owner, site.id);
  const [ownersEmail, membersEmail] = [await ask.emailOf(owner), await ask.emailOf(member)];
  const form = await ask.newForm(member, { notify_to: membersEmail.toUpperCase() }, site);
  expect(form).toMatchObject({ notify_to: membersEmail, notify_options: [ownersEmail, membersEmail] });
  const other = await ask.newForm(owner, {}, site);
  const changed = await owner.call('PATCH', `/v1/forms/${other.id}`, { body: { notify_to: membersEmail } });
  expect(changed.body.notify_to).toBe(membersEmail);
  await owner.call('PATCH', `/v1/forms/${other.id}`, { body: { notify_to: ownersEmail } });
  const removed = await ask.remove(owner, site.id, member.accountId);
  expect(removed.body.moved).toMatchObject({ forms: [form.id] });
  expect((await owner.call('GET', `/v1/forms/${form.id}`)).body).toMatchObject({
    notify_to: ownersEmail,
    notify_options: [ownersEmail],
  });
  const back = await owner.call('PATCH', `/v1/forms/${form.id}`, { body: { notify_to: membersEmail } });
  expect(errorOf(back)).toMatchObject({
    code: 'notify_to_not_on_site',
    next_action: expect.stringContaining(ownersEmail),
  });
});

test('a collaborator removed while becoming notify_to receives nothing', async () => {
  for (let round = 0; round < 10; round++) {
    const site = await ask.newSite(owner);
    const member = await ask.newCollaborator(owner, site.id);
    const notify_to = await ask.emailOf(member);
    const form = await ask.newForm(owner, {}, site);
    const [made, given, removed] = await Promise.all([
      owner.call('POST', `/v1/sites/${site.id}/forms`, { body: { name: 'New', fields: contactFields, notify_to } }),
      owner.call('PATCH', `/v1/forms/${form.id}`, { body: { notify_to } }),
      ask.remove(owner, site.id, member.accountId),
    ]);
    expect(removed.status).toBe(200);
    for (const answer of [made, given]) {
      if (answer.status !== 200) expect(errorOf(answer).code).toBe('notify_to_not_on_site');
    }
    const { items } = (await owner.call('GET', `/v1/sites/${site.id}/forms`)).body;
    for (const one of items) expect(one.notify_to).toBe(await ask.emailOf(owner));
    const took = [made, given].filter(({ status }) => status === 200).map(({ body }) => body.id);
    expect(removed.body.moved.forms.sort()).toEqual(took.sort());
  }
});

test('a disabled form keeps its submissions, and an enabled one accepts new ones', async () => {
  const form = await ask.newForm(owner);
  await ask.send(form.id);
  const headers = { 'idempotency-key': 'close' };
  const disabled = await owner.call('POST', `/v1/forms/${form.id}/disable`, { headers });
  expect(disabled.body).toMatchObject({ status: 'disabled', submissions: 1 });
  expect((await owner.call('POST', `/v1/forms/${form.id}/disable`)).body.status).toBe('disabled');
  const refused = await ask.visitor('POST', `/f/${form.id}`, { body: ada });
  expect([refused.status, errorOf(refused).code]).toEqual([503, 'forms_disabled']);
  expect(errorOf(await ask.visitor('GET', `/f/${form.id}/challenge`)).code).toBe('forms_disabled');
  expect((await ask.visitor('GET', `/f/${form.id}`)).body.status).toBe('disabled');
  expect((await ask.submissions(owner, form.id)).body.items).toHaveLength(1);
  expect((await owner.call('POST', `/v1/forms/${form.id}/enable`)).body.status).toBe('enabled');
  expect((await owner.call('POST', `/v1/forms/${form.id}/disable`, { headers })).body.status).toBe('enabled');
  expect((await ask.send(form.id)).status).toBe(200);
});

test('a form removed with confirmation loses its submissions', async () => {
  const form = await ask.newForm(owner);
  await ask.send(form.id);
  await ask.send(form.id);
  for (const query of ['', '?confirm=false']) {
    const asked = await owner.call('DELETE', `/v1/forms/${form.id}${query}`);
    expect([asked.status, errorOf(asked).code]).toEqual([409, 'confirm_required']);
    expect(errorOf(asked).message).toContain('2 submissions');
  }
  const removed = await owner.call('DELETE', `/v1/forms/${form.id}?confirm=true`);
  expect(removed.body).toMatchObject({ id: form.id, submissions: 2 });
  for (const path of [`/v1/forms/${form.id}`, `/v1/forms/${form.id}/submissions`, `/f/${form.id}`]) {
    expect(errorOf(await owner.call('GET', path)).code).toBe('not_found');
  }
  const [left] = await fixture.deps
    .em()
    .execute('select count(*)::int as n from submission where form_id = ?', [form.id]);
  expect(left).toEqual({ n: 0 });
  // What waited to be mailed is forgotten too.
  const [mails] = await fixture.deps
    .em()
    .execute(`select count(*)::int as n from mail where status = 'failed' and failure = 'its form was removed'`);
  expect(mails).toEqual({ n: 2 });
});

test('dropping answered fields is form_fields_removed, renaming or retyping form_has_submissions', async () => {
  const form = await ask.newForm(owner);
  const change = (fields: unknown) => owner.call('PATCH', `/v1/forms/${form.id}`, { body: { fields } });
  const [name, email, message] = contactFields;
  // As long as nobody has answered, everything may change.
  expect((await change([name])).status).toBe(200);
  expect((await change([name, email, message])).status).toBe(200);
  await ask.send(form.id, { name: 'Ada', email: 'ada@example.com' });
  const code = async (fields: unknown) => errorOf(await change(fields)).code;
  expect(await code([email, message])).toBe('form_fields_removed');
  expect(await code([{ ...name, name: 'full_name' }, email])).toBe('form_has_submissions');
  expect(await code([{ ...name, kind: 'textarea' }, email])).toBe('form_has_submissions');
  // What nobody answered may go; labels, order and what is needed may change; more may be asked.
  const more = { name: 'phone', label: 'Telephone', kind: 'tel' };
  expect((await change([email, { ...name, label: 'Name', required: false }, more])).status).toBe(200);
  // Answers that are past their time hold nothing.
  const em = fixture.deps.em();
  await em.execute('update submission set expires_at = ? where form_id = ?', [fixture.clock.now(), form.id]);
  expect((await change([email])).status).toBe(200);
});

test('a field cannot be dropped during an answer to it', async () => {
  const [name, email] = contactFields;
  for (let round = 0; round < 10; round++) {
    const form = await ask.newForm(owner, { fields: [name, { ...email, required: false }] });
    const altcha = await ask.solved(form.id);
    const [sent, changed] = await Promise.all([
      ask.visitor('POST', `/f/${form.id}`, { body: { name: 'Ada', email: 'ada@example.com', altcha } }),
      owner.call('PATCH', `/v1/forms/${form.id}`, { body: { fields: [name] } }),
    ]);
    expect(sent.status).toBe(200);
    if (changed.status !== 200) expect(errorOf(changed).code).toBe('form_fields_removed');
    const [kept] = (await ask.submissions(owner, form.id)).body.items;
    expect(kept.fields).toEqual({ name: 'Ada', email: 'ada@example.com' });
  }
});
