/** What visitors send, over the wire: taken, or refused so that nothing typed is lost. */
import { pbkdf2Sync } from 'node:crypto';
import { expect, test } from 'vitest';
import { createFixture, errorOf } from '#test/api/fixture.ts';
import { ada, challengeEnv, forms, solve, useForms } from './fixture.ts';

const { fixture, ask, owner } = await useForms();
const form = await ask.newForm(owner);

const latest = async () => (await ask.submissions(owner, form.id)).body.items[0];
const count = async () => (await owner.call('GET', `/v1/forms/${form.id}`)).body.submissions;

test('a form is accepted as multipart and as JSON, with the same result', async () => {
  const boundary = 'abc';
  const altcha = async () => await ask.solved(form.id);
  const part = (name: string, text: string) =>
    `--${boundary}\r\ncontent-disposition: form-data; name="${name}"\r\n\r\n${text}\r\n`;
  const wanted = { name: 'Zoë 🥐', email: 'zoe@example.com', message: 'One\nTwo' };
  const sent = { ...wanted, message: 'One\r\nTwo' };
  expect((await ask.post(form.id, { ...sent, altcha: await altcha() })).status).toBe(200);
  expect((await latest()).fields).toEqual(wanted);
  const parts = Object.entries({ ...sent, altcha: await altcha() }).map(([name, text]) => part(name, text));
  const inParts = await ask.visitor('POST', `/f/${form.id}`, {
    raw: `${parts.join('')}--${boundary}--\r\n`,
    headers: { 'content-type': `multipart/form-data; boundary=${boundary}` },
  });
  expect(inParts.status).toBe(200);
  expect((await latest()).fields).toEqual(wanted);
  const json = await ask.send(form.id, sent);
  expect(json.body).toEqual({ id: (await latest()).id, status: 'received', thanks: null, return_path: null });
  expect((await latest()).fields).toEqual(wanted);
  expect((await latest()).mail).toBeNull();
});

test('a sender needs no token, and an unknown form is not found', async () => {
  for (const id of ['form_01h455vb4pex5vsknk084sn02q', 'x', '__proto__', '%00', '..%2f..']) {
    for (const path of [`/f/${id}`, `/f/${id}/challenge`]) {
      expect(errorOf(await ask.visitor('GET', path)).code).toBe('not_found');
    }
    expect(errorOf(await ask.visitor('POST', `/f/${id}`, { body: ada })).code).toBe('not_found');
  }
});

test('missing, forged and repeated solutions are not_a_person', async () => {
  const before = await count();
  const refusal = async (altcha?: string) => {
    const answer = await ask.visitor('POST', `/f/${form.id}`, { body: { ...ada, ...(altcha ? { altcha } : {}) } });
    expect([answer.status, errorOf(answer).code]).toEqual([400, 'not_a_person']);
    return errorOf(answer).message;
  };
  await refusal();
  await refusal('solved, honestly');
  await refusal(Buffer.from('{"challenge":{},"solution":{}}').toString('base64'));
  const challenge = await ask.challengeOf(form.id);
  const solved = JSON.parse(Buffer.from(await solve(challenge), 'base64').toString());
  const tampered = (change: (copy: typeof solved) => void) => {
    const copy = structuredClone(solved);
    change(copy);
    return Buffer.from(JSON.stringify(copy)).toString('base64');
  };
  const changes: ((copy: typeof solved) => void)[] = [
    ({ solution }) => Object.assign(solution, { derivedKey: '0'.repeat(64) }),
    ({ challenge }) => Object.assign(challenge.parameters, { expiresAt: challenge.parameters.expiresAt + 60 }),
    ({ challenge }) => Object.assign(challenge.parameters, { keyPrefix: '0'.repeat(32) }),
    ({ challenge }) => Object.assign(challenge, { signature: 'f'.repeat(64) }),
  ];
  for (const change of changes) await refusal(tampered(change));
  // A challenge of another form is none of this one.
  const other = await ask.newForm(owner);
  await refusal(await ask.solved(other.id));
  expect(await count()).toBe(before);

  const altcha = tampered(() => {});
  const all = await Promise.all(
    Array.from({ length: 8 }, () => ask.visitor('POST', `/f/${form.id}`, { body: { ...ada, altcha } })),
  );
  expect(all.filter(({ status }) => status === 200)).toHaveLength(1);
  expect(await refusal(altcha)).toContain('only once');
  // Told otherwise, it is the same one.
  await refusal(tampered(({ solution }) => Object.assign(solution, { counter: solution.counter + 1, time: 5 })));
  expect(await count()).toBe(before + 1);
});

test('a challenge expires after an hour, and its record is then swept', async () => {
  const late = await createFixture(challengeEnv);
  try {
    const there = forms(late);
    const caller = await late.newCaller();
    const made = await there.newForm(caller);
    const altcha = await there.solved(made.id);
    late.skip(60 * 60_000 + 1000);
    const answer = await there.visitor('POST', `/f/${made.id}`, { body: { ...ada, altcha } });
    expect(errorOf(answer)).toMatchObject({ code: 'not_a_person', message: expect.stringContaining('has expired') });
  } finally {
    await late.close();
  }
});

test('the description contains all that an agent needs to submit for a visitor', async () => {
  const { body: told } = await ask.visitor('GET', `/f/${form.id}`);
  expect(told).toMatchObject({ name: 'Contact', status: 'enabled', send: { method: 'POST', url: form.action_url } });
  const path = (url: string) => url.slice(fixture.config.baseUrl.length);
  const challenge = (await ask.visitor('GET', path(told.challenge.url))).body;
  // As its words say, without the library.
  const { nonce, salt, cost, keyLength, keyPrefix } = challenge.parameters;
  let n = 0;
  let derivedKey = '';
  for (; !derivedKey.startsWith(keyPrefix); n++) {
    const counter = Buffer.alloc(4);
    counter.writeUInt32BE(n);
    const password = Buffer.concat([Buffer.from(nonce, 'hex'), counter]);
    derivedKey = pbkdf2Sync(password, Buffer.from(salt, 'hex'), cost, keyLength, 'sha256').toString('hex');
    if (derivedKey.startsWith(keyPrefix)) break;
  }
  const solution = JSON.stringify({ challenge, solution: { counter: n, derivedKey } });
  const answers = { ...ada, [told.challenge.answer]: Buffer.from(solution).toString('base64') };
  const sent = await ask.visitor('POST', path(told.send.url), { body: answers });
  expect(sent.body.status).toBe('received');
});

test('the site’s and our pages may submit; only the site’s scripts read the response', async () => {
  const own = new URL(form.site.address).origin;
  const with_ = async (headers: Record<string, string>) => await ask.send(form.id, ada, { headers });
  const sent = async (headers: Record<string, string>) => {
    const body = { ...ada, altcha: await ask.solved(form.id) };
    return await ask.visitor('POST', `/f/${form.id}`, { body, headers });
  };
  expect((await with_({})).status).toBe(200);
  for (const headers of [{ origin: own }, { referer: `${own}/contact/` }, { origin: fixture.config.baseUrl }]) {
    expect((await sent(headers)).status).toBe(200);
  }
  const foreign: Record<string, string>[] = [
    { origin: 'https://evil.example' },
    { origin: 'null' },
    { origin: '' },
    { origin: `${own}.evil.example` },
    { origin: own.replace('http:', 'https:') },
    { referer: 'https://evil.example/contact' },
    { referer: 'not an address' },
    { origin: 'https://evil.example', referer: `${own}/` },
  ];
  for (const headers of foreign) {
    const refused = await sent(headers);
    expect([headers, errorOf(refused).code]).toEqual([headers, 'invalid_origin']);
    expect(refused.headers.get('access-control-allow-origin')).toBe(null);
  }
  for (const [origin, allowed] of [
    [own, own],
    ['https://evil.example', null],
  ] as const) {
    const headers = { origin, 'access-control-request-method': 'POST' };
    for (const path of [`/f/${form.id}`, `/f/${form.id}/challenge`]) {
      const asked = await ask.visitor('OPTIONS', path, { headers });
      expect([path, asked.status, asked.headers.get('access-control-allow-origin')]).toEqual([path, 204, allowed]);
    }
    const read = await ask.visitor('GET', `/f/${form.id}/challenge`, { headers: { origin } });
    expect(read.headers.get('access-control-allow-origin')).toBe(allowed);
    expect(read.headers.get('vary')).toContain('origin');
  }
});

test('_return redirects within the site, and to the thank-you page by default', async () => {
  const go = async (path: string, headers = {}) =>
    await ask.post(form.id, { ...ada, _return: path, altcha: await ask.solved(form.id) }, headers);
  const own = new URL(form.site.address).origin;
  for (const path of ['/thanks/', '/thanks?a=b#c', '/danke%20schön']) {
    const answer = await go(path);
    expect([answer.status, answer.headers.get('location')]).toEqual([303, new URL(path, own).href]);
  }
  const before = await count();
  const elsewhere = [
    'https://evil.example',
    '//evil.example',
    '/\\evil.example',
    'thanks',
    '/a\nb',
    '/\t/evil.example',
    `/${'x'.repeat(1000)}`,
  ];
  for (const path of elsewhere) {
    const json = await ask.send(form.id, { ...ada, _return: path });
    expect([path, errorOf(json).code]).toEqual([path, 'invalid_return_path']);
  }
  const page = await go('//evil.example');
  expect(page.status).toBe(400);
  expect(page.text).toContain('Bread, please');
  expect(page.text).not.toContain('name="_return"');
  expect(await count()).toBe(before);
  const thanks = await ask.post(form.id, { ...ada, altcha: await ask.solved(form.id) });
  expect(thanks.headers.get('content-type')).toContain('text/html');
  expect(thanks.text).toContain('Thank you');
});

test('an error page keeps the input and names the faulty field', async () => {
  const hostile = '"><script>alert(1)</script>';
  const wrong = await ask.post(form.id, { name: hostile, email: 'none', message: 'Kept', utm: 'x', _page: '/contact' });
  expect(wrong.status).toBe(400);
  expect(wrong.text).toContain('Your address: please enter an e-mail address');
  expect(wrong.text).toContain('aria-invalid="true"');
  for (const kept of ['Kept', 'value="none"', 'name="utm"', 'value="/contact"']) expect(wrong.text).toContain(kept);
  expect(wrong.text).not.toContain('<script>alert');
  const unsolved = await ask.post(form.id, ada);
  expect([unsolved.status, unsolved.text.includes('One more step')]).toEqual([400, true]);
  for (const kept of Object.values(ada)) expect(unsolved.text).toContain(kept);
  const solved = { ...ada, altcha: await ask.solved(form.id) };
  expect((await ask.post(form.id, solved)).status).toBe(200);
  const again = await ask.post(form.id, solved);
  expect([again.status, again.text.includes('Your message has already been sent.')]).toEqual([400, true]);
  const foreign = await ask.post(form.id, ada, { origin: 'https://evil.example' });
  expect(foreign.text).toContain('Bread, please');
  const fault = await ask.send(form.id, { name: '', email: 'none' });
  expect(errorOf(fault)).toMatchObject({ code: 'invalid_fields', message: expect.stringContaining('Your name') });
  expect(errorOf(fault).message).toContain('Your address');
});
