/** The owner's texts of a form, retired fields, and what a browser without scripts reads. */
import { expect, test } from 'vitest';
import { addressOnDomain } from '#db/domains/canonical-url.ts';
import { Domain } from '#db/domains/domain.ts';
import { errorOf } from '#test/api/fixture.ts';
import { ada, contactFields, useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms();

const texts = {
  button: 'Ask for a {{table}}',
  thanks: 'We call you back.\nMonday to Friday.',
  fallback: 'Telephone 030 <123>\nHauptstr. 1',
  return_path: '/thanks/',
} as const;

test('a form has texts of its own, which null takes away again', async () => {
  const form = await ask.newForm(owner, { ...texts, reply_to: await ask.emailOf(owner) });
  expect(form).toMatchObject({ ...texts, reply_to: await ask.emailOf(owner), acknowledge: null });
  expect(form.embed).toContain('<button>Ask for a &#123;&#123;table&#125;&#125;</button>');
  expect(form.embed).toContain('<noscript><p>Telephone 030 &#60;123&#62;<br>Hauptstr. 1</p></noscript>');
  const description = await ask.visitor('GET', `/f/${form.id}`, { headers: { accept: 'application/json' } });
  expect(description.body).toMatchObject({ button: texts.button });
  const cleared = { button: null, thanks: null, fallback: null, return_path: null, reply_to: null };
  const { body } = await owner.call('PATCH', `/v1/forms/${form.id}`, { body: cleared });
  expect(body).toMatchObject(cleared);
  expect(body.embed).toContain('<button>Send</button>');
  expect(body.embed).not.toContain('noscript');
});

test('texts and addresses that cannot be used are refused with their codes', async () => {
  const { id } = await ask.newForm(owner);
  const refusals: [Record<string, unknown>, string][] = [
    [{ button: 'two\nlines' }, 'invalid_json'],
    [{ button: 'x'.repeat(61) }, 'invalid_json'],
    [{ thanks: '' }, 'invalid_json'],
    [{ thanks: 'x'.repeat(501) }, 'invalid_json'],
    [{ fallback: 'a\u0000b' }, 'invalid_json'],
    [{ return_path: 'https://evil.example/' }, 'invalid_return_path'],
    [{ return_path: '//evil.example' }, 'invalid_return_path'],
    [{ return_path: '/\\evil.example' }, 'invalid_return_path'],
    [{ reply_to: 'stranger@example.com' }, 'notify_to_not_on_site'],
    [{ reply_to: 'nothing' }, 'invalid_notify_to'],
    [{ acknowledge: { text: 'See https://evil.example' } }, 'invalid_json'],
    [{ acknowledge: { text: 'See evil.com/pay' } }, 'invalid_json'],
    [{ acknowledge: { text: 'Write to me@evil.example' } }, 'invalid_json'],
    [{ acknowledge: {} }, 'invalid_json'],
    [{ acknowledge: { text: 'x'.repeat(501) } }, 'invalid_json'],
    [{ fields: [{ ...contactFields[0], retired: true }] }, 'invalid_fields'],
    [{ acknowledge: { text: 'Thanks' }, fields: [contactFields[0]] }, 'invalid_fields'],
  ];
  for (const [body, code] of refusals) {
    const answer = await owner.call('PATCH', `/v1/forms/${id}`, { body });
    expect([body, errorOf(answer).code]).toEqual([body, code]);
  }
});

test('every page of a form has the two colours of its site', async () => {
  const form = await ask.newForm(owner);
  const colors = { accent: '#ffd400', background: '#fdf6e3' };
  const elsewhere = { origin: 'https://elsewhere.example' };
  const pages = async () => [
    await ask.visitor('GET', `/f/${form.id}`, { headers: { accept: 'text/html' } }),
    await ask.visitor('GET', `/f/${form.id}/embed.html`),
    await ask.post(form.id, { email: 'none' }),
    await ask.post(form.id, ada, elsewhere),
    await ask.post(form.id, { ...ada, altcha: await ask.solved(form.id) }),
  ];
  const seen = async () => (await pages()).map(({ status, text }) => [status, text.includes('--fill: #ffd400;')]);
  const statuses = [200, 200, 400, 400, 200];
  expect(await seen()).toEqual(statuses.map((status) => [status, false]));
  await owner.call('PATCH', `/v1/sites/${form.site.id}`, { body: { colors } });
  expect(await seen()).toEqual(statuses.map((status) => [status, true]));
});

test('after sending, a visitor reads the thanks or is redirected to the path', async () => {
  const form = await ask.newForm(owner, { thanks: texts.thanks });
  const told = await ask.send(form.id);
  expect(told.body).toEqual({ id: told.body.id, status: 'received', thanks: texts.thanks, return_path: null });
  const page = await ask.post(form.id, { ...ada, altcha: await ask.solved(form.id) });
  expect(page.text).toContain('<p>We call you back.<br>Monday to Friday.</p>');
  await owner.call('PATCH', `/v1/forms/${form.id}`, { body: { return_path: '/thanks/' } });
  const redirected = await ask.post(form.id, { ...ada, altcha: await ask.solved(form.id) });
  expect([redirected.status, redirected.headers.get('location')]).toEqual([303, `${form.site.address}/thanks/`]);
  const elsewhere = await ask.post(form.id, { ...ada, _return: '/other/', altcha: await ask.solved(form.id) });
  expect(elsewhere.headers.get('location')).toBe(`${form.site.address}/other/`);
});

test('pages of a form name the site’s own domain, and lead to it', async () => {
  const form = await ask.newForm(owner, { return_path: '/thanks/' });
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const name = `${form.site.name}.example`;
  const domain = { id: `dom_${form.site.name}`, name, registrable: name, proof: name, pair: name };
  const times = { createdAt: now, statusSince: now, provedAt: now, attachedAt: now, nextCheckAt: now };
  const whose = { account: owner.accountId, site: form.site.id, isPrimary: true } as const;
  em.create(Domain, { ...domain, ...times, ...whose, mode: 'cname', status: 'active' });
  await em.flush();
  const address = addressOnDomain(fixture.config, name);
  const page = await ask.post(form.id, ada);
  expect(page.text).toContain(`<a href="${address}/">${name}</a>`);
  // A browser whose form is redirected further than this shows nothing.
  expect(page.headers.get('content-security-policy')).toContain(`form-action 'self' ${address};`);
  const send = async () =>
    ask.post(form.id, { ...ada, altcha: await ask.solved(form.id) }, { origin: fixture.config.baseUrl });
  expect((await send()).headers.get('location')).toBe(`${address}/thanks/`);
  await owner.call('PATCH', `/v1/forms/${form.id}`, { body: { return_path: null } });
  expect((await send()).text).toContain(`Your message has been sent to ${name}.`);
});

test('visitors are not asked a retired field, and its column stays', async () => {
  const form = await ask.newForm(owner);
  await ask.send(form.id);
  const [first, second, third] = contactFields;
  const dropped = await owner.call('PATCH', `/v1/forms/${form.id}`, { body: { fields: [first, second] } });
  expect(errorOf(dropped)).toMatchObject({ code: 'form_fields_removed' });
  expect(errorOf(dropped).next_action).toContain('"retired": true');
  const fields = [first, second, { ...third, required: true, retired: true }];
  const { body } = await owner.call('PATCH', `/v1/forms/${form.id}`, { body: { fields } });
  expect(body.fields[2]).toMatchObject({ name: 'message', retired: true });
  expect(body.embed).not.toContain('What is it about?');
  expect((await ask.visitor('GET', `/f/${form.id}`, { headers: { accept: 'text/html' } })).text).not.toContain(
    'What is it about?',
  );
  const names = (await ask.visitor('GET', `/f/${form.id}`, { headers: { accept: 'application/json' } })).body.fields;
  expect(names.map(({ name }: { name: string }) => name)).toEqual(['name', 'email']);
  const { message: _message, ...asked } = ada;
  expect((await ask.send(form.id, asked)).status).toBe(200);
  // A page with the HTML of before.
  expect((await ask.send(form.id, { ...ada, message: 'From an old page' })).status).toBe(200);
  const csv = (await ask.submissions(owner, form.id, '?format=csv')).text.split('\r\n');
  expect(csv[0]).toContain('"What is it about?","Other answers"');
  expect(csv[1]).toContain('"From an old page",""');
  expect(csv[3]).toContain('"Bread, please",""');
});

test('fields of bookings cannot be retired', async () => {
  const site = await ask.newSite(owner);
  const calendar = { key: 'room', name: 'Room', capacity: 1, time_zone: 'UTC', hours: [] };
  const service = { key: 'talk', name: 'Talk', duration_minutes: 30, calendar_keys: ['room'] };
  const body = { calendars: [calendar], services: [{ ...service, intake: [{ ...contactFields[0], retired: true }] }] };
  const answer = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body });
  expect(answer.status).toBe(400);
  expect(errorOf(answer).message).toContain('only the fields of a form can be retired');
});

test('the page lists what is wrong, with links to the fields', async () => {
  const form = await ask.newForm(owner);
  const { text } = await ask.post(form.id, { name: '', email: 'nobody', altcha: await ask.solved(form.id) });
  for (const name of ['name', 'email']) {
    expect(text).toMatch(new RegExp(`<li><a href="#field-${name}">`));
    expect(text).toMatch(new RegExp(`<input [^>]*name="${name}"[^>]* id="field-${name}" aria-invalid="true"`));
  }
  expect(text).not.toContain('href="#field-message"');
});

test('without scripts the visitor reads the fallback, and nothing is sent', async () => {
  const form = await ask.newForm(owner, { fallback: texts.fallback });
  const { status, text } = await ask.post(form.id, ada);
  expect(status).toBe(400);
  const [noscript = ''] = /<noscript>[\s\S]*?<\/noscript>/.exec(text) ?? [];
  expect(noscript).toContain('Nothing has been sent yet.');
  expect(noscript).toContain('<p>Telephone 030 &#60;123&#62;<br>Hauptstr. 1</p>');
  expect((await ask.submissions(owner, form.id)).body.items).toEqual([]);
  expect(fixture.config.mail).toBeUndefined();
});
