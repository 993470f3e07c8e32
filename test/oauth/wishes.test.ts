/** What a connector may ask for, where a browser is led, and what the page shows. */
import { afterAll, expect, test } from 'vitest';
import { callback, createOauthFixture, pkce } from './fixture.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());
const { renew, approve, question, register } = fixture;

const openRedirects = [
  'https://evil.example/',
  `${callback}/more`,
  `${callback}?x=1`,
  `${callback}#x`,
  'https://connector.example@evil.example/callback',
  'https://connector.example.evil.example/callback',
  'http://connector.example/callback',
  'https://connector.example:8443/callback',
  'https://connector.example/Callback',
  'https://connector.example/callback/../evil',
  '//connector.example/callback',
  'javascript:alert(1)',
  '',
];

test.each(openRedirects)('no browser is redirected to %j, which the client has not registered', async (redirect) => {
  const { browser } = await fixture.newSignedIn();
  const { body } = await register();
  const { challenge } = pkce();
  for (const more of [{}, { response_type: 'token' }, { resource: 'https://x.example' }]) {
    const shown = await browser.open(question(body.client_id, challenge, { redirect_uri: redirect, ...more }));
    expect([shown.status, shown.headers.get('location')]).toEqual([400, null]);
    expect(shown.text).toContain('No access was granted');
  }
});

test('a program on the owner’s device may use any port, and no other address', async () => {
  const { browser } = await fixture.newSignedIn();
  const { body } = await register({ redirect_uris: ['http://127.0.0.1/cb', 'http://localhost:3000/cb'] });
  const { challenge } = pkce();
  const ask = async (redirect_uri: string) =>
    (await browser.open(question(body.client_id, challenge, { redirect_uri }))).status;
  for (const good of ['http://127.0.0.1/cb', 'http://127.0.0.1:51234/cb', 'http://localhost:9/cb'])
    expect(await ask(good)).toBe(200);
  for (const bad of ['http://127.0.0.1:1/other', 'https://127.0.0.1/cb', 'http://127.0.0.2/cb', 'http://[::1]/cb']) {
    expect(await ask(bad)).toBe(400);
  }
});

test('an invalid request gets a page, and never a redirect to the client', async () => {
  const { browser } = await fixture.newSignedIn();
  const { body } = await register();
  const { challenge } = pkce();
  const invalid: [Record<string, string | undefined>, string][] = [
    [{ response_type: 'token' }, 'response_type must be code'],
    [{ response_type: undefined }, 'response_type must be code'],
    [{ code_challenge: undefined }, 'code_challenge must be'],
    [{ code_challenge: 'x' }, 'code_challenge must be'],
    [{ code_challenge_method: 'plain' }, 'code_challenge_method must be S256'],
    [{ code_challenge_method: undefined }, 'code_challenge_method must be S256'],
    [{ resource: 'https://elsewhere.example/mcp' }, 'The resource must be'],
  ];
  const questions = invalid.map(([more, text]) => [question(body.client_id, challenge, more), text] as const);
  const twice = `${question(body.client_id, challenge)}&resource=https%3A%2F%2Fx.example`;
  for (const one of [browser, fixture.browser()]) {
    for (const [path, text] of [...questions, [twice, 'resource was sent more than once'] as const]) {
      const shown = await one.open(path);
      expect([path, shown.status, shown.headers.get('location')]).toEqual([path, 400, null]);
      expect(shown.text).toContain(text);
      expect(shown.text).toContain('No access was granted');
    }
  }
});

test('a client is its signed registration, which cannot be changed', async () => {
  const { browser } = await fixture.newSignedIn();
  const { body } = await register();
  const [payload = '', signature] = body.client_id.split('.');
  const [name, , at] = JSON.parse(Buffer.from(payload, 'base64url').toString());
  const other = Buffer.from(JSON.stringify([name, ['https://evil.example/'], at])).toString('base64url');
  const { challenge } = pkce();
  for (const id of [
    `${other}.${signature}`,
    `${payload}.`,
    payload,
    `.${signature}`,
    `${payload}.${signature}.x`,
    'x',
    '',
  ]) {
    const shown = await browser.open(question(id, challenge, { redirect_uri: 'https://evil.example/' }));
    expect([id, shown.status, shown.headers.get('location')]).toEqual([id, 400, null]);
  }
  const { status: told, body: refusal } = await renew('x.y', 'frr_x');
  expect([told, refusal.error]).toEqual([401, 'invalid_client']);
});

test('a registration redirects to https or loopback, with a one-line plain name', async () => {
  const uris = (...redirect_uris: unknown[]) => register({ redirect_uris });
  const bad = [
    'http://x.example/',
    'javascript:alert(1)',
    'data:text/html,x',
    'cursor://x',
    'https://x.example/#f',
    'https://a:b@x.example/',
    'x',
    '',
    'https://x.example/\r\nset-cookie: a',
    "https://x.example/'",
    'https://x.example/;script-src',
    'http://127.0.0.1.evil.example/',
    `https://x.example/${'x'.repeat(600)}`,
    7,
  ];
  for (const uri of bad) expect([uri, (await uris(uri)).body.error]).toEqual([uri, 'invalid_redirect_uri']);
  expect((await uris()).body.error).toBe('invalid_redirect_uri');
  expect((await uris(...Array(11).fill(callback))).body.error).toBe('invalid_redirect_uri');
  expect((await uris(...Array.from({ length: 10 }, (_, n) => `https://x.example/${n}`))).status).toBe(201);
  const names = [
    '\u202egnp.tahC',
    'two\nlines',
    'x'.repeat(61),
    'see https://evil.example',
    '\u200b',
    ' ',
    '\u3164',
    'a\0b',
    7,
    null,
  ];
  for (const name of names)
    expect([name, (await register({ client_name: name })).body.error]).toEqual([name, 'invalid_client_metadata']);
  expect((await register({ grant_types: ['client_credentials'] })).body.error).toBe('invalid_client_metadata');
  const plain = await register({
    client_name: undefined,
    token_endpoint_auth_method: 'client_secret_basic',
    nonsense: { a: 1 },
  });
  expect([plain.status, plain.body]).toMatchObject([
    201,
    { client_name: 'connector.example', token_endpoint_auth_method: 'none', redirect_uris: [callback] },
  ]);
  expect(plain.body.client_secret).toBe(undefined);
  const json = { 'content-type': 'application/json' };
  expect((await fixture.tell('/oauth/register', { headers: json, body: '{' })).body.error).toBe(
    'invalid_client_metadata',
  );
  expect((await fixture.tell('/oauth/register', { headers: json, body: '[]' })).body.error).toBe(
    'invalid_client_metadata',
  );
});

test('a name is shown as text, never as markup', async () => {
  const { browser } = await fixture.newSignedIn();
  const { shown, location } = await approve(browser, { client_name: '<img src=x onerror=alert(1)>"\'&' });
  expect(shown.text).not.toContain('<img');
  expect(shown.text).toContain('stop working when you disconnect it');
  expect(shown.text).toContain('&#60;img src=x onerror=alert(1)&#62;');
  expect(location.searchParams.get('code')).toMatch(/^frc_/);
  const list = await browser.open('/account');
  expect(list.text).not.toContain('<img src=x');
});

test('the page cannot be framed, and its form works only for its reader', async () => {
  const { browser } = await fixture.newSignedIn();
  const { body } = await register();
  const path = question(body.client_id, pkce().challenge);
  const shown = await browser.open(path);
  const policy = shown.headers.get('content-security-policy') ?? '';
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self' https:;");
  expect([shown.headers.get('x-frame-options'), shown.headers.get('cache-control')]).toEqual(['DENY', 'no-store']);
  const fields = { answer: 'approve', form: 'x' };
  const cross = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  for (const [sent, headers] of [
    [fields, cross],
    [fields, {}],
    [{ answer: 'approve' }, { 'sec-fetch-site': 'same-origin' }],
  ] as const) {
    const refused = await browser.go('POST', path, sent, headers);
    expect([refused.status, refused.headers.get('location')]).toEqual([400, null]);
  }
  // Another's browser, with a form of its own: it is nobody's until it has signed in.
  const stranger = fixture.browser();
  const asked = await stranger.open(path);
  expect(asked.url).toBe('/signin?for=client');
});

test('a consent page of one account cannot be answered by another', async () => {
  const { browser } = await fixture.newSignedIn();
  const { email } = await fixture.newOwner();
  const { body } = await register();
  const left = await browser.open(question(body.client_id, pkce().challenge));
  await fixture.signIn(browser, email);
  const asked = await browser.press(left, 'Give access');
  expect([asked.status, asked.headers.get('location'), asked.text.includes(email)]).toEqual([400, null, true]);
  const given = await browser.press(asked, 'Give access');
  expect(given.headers.get('location')).toMatch(/^https:\/\/connector\.example\/callback\?.*code=/);
});

test('the saved request redirects nowhere but to the consent page', async () => {
  const { email } = await fixture.newOwner();
  for (const words of ['https://evil.example', '/../account', '\r\nset-cookie: x=y', 'client_id=x']) {
    const browser = fixture.browser();
    browser.cookies.set('__Host-frontage_continue', Buffer.from(words).toString('base64url'));
    const page = await fixture.signIn(browser, email);
    expect([words, page.url.startsWith('/oauth/authorize?') || page.url === '/account']).toEqual([words, true]);
    expect(page.text).not.toContain('Give access');
  }
  const { body } = await register();
  const long = await fixture.browser().open(question(body.client_id, pkce().challenge, { state: 'x'.repeat(3000) }));
  expect([long.status, long.text]).toEqual([400, expect.stringContaining('is too long')]);
});
