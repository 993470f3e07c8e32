import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { recordBuilderPresence } from '#db/deployments/builder-capacity.ts';
import { blockSite } from '#db/sites/transitions.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { formsOf, newBrowser } from './browser.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
const second = await fixture.start();
afterAll(() => fixture.close());

const signedIn = () => fixture.newSignedIn('Laptop <1>');

test('the owner sees their own sites, requests and tokens alone', async () => {
  const [owner, stranger] = [await signedIn(), await signedIn()];
  const site = await createSite({ ...owner, call: owner.call }, { title: 'The <bakery>' });
  const hidden = await createSite({ ...stranger, call: stranger.call }, { title: 'A florist' });
  await fixture.ask(owner.email, { agent_name: 'Tinker' });
  await fixture.ask(stranger.email, { agent_name: 'Nosy' });
  const pages = [await owner.browser.open('/account'), await owner.browser.open('/account/agents')];
  expect(pages.map(({ status }) => status)).toEqual([200, 200]);
  const text = pages.map((page) => page.text).join();
  for (const part of [
    'The &#60;bakery&#62;',
    site.address,
    'Laptop &#60;1&#62;',
    `Token ends with ${owner.token.slice(-4)}`,
    '“Tinker” is requesting access',
    '<h2>Your sites</h2>',
  ]) {
    expect(text).toContain(part);
  }
  for (const part of ['A florist', hidden.address, 'Nosy', stranger.email, owner.token])
    expect(text).not.toContain(part);
});

test('the owner sees how many comments are open on each site', async () => {
  const owner = await signedIn();
  const site = await createSite({ ...owner, call: owner.call });
  const comment = () => owner.call('POST', `/v1/sites/${site.id}/comments`, { body: { page: '/', body: 'Larger' } });
  const shown = async () => /\d+ open comments?/.exec((await owner.browser.open('/account')).text)?.[0];
  expect(await shown()).toBeUndefined();
  const { body: thread } = await comment();
  expect(await shown()).toBe('1 open comment');
  await comment();
  expect(await shown()).toBe('2 open comments');
  const resolve = { thread_id: thread.id, action: 'resolve' };
  await owner.call('POST', `/v1/sites/${site.id}/comments`, { body: resolve });
  expect(await shown()).toBe('1 open comment');
});

test('the owner reads why a site was blocked', async () => {
  const owner = await signedIn();
  const site = await createSite({ ...owner, call: owner.call });
  await blockSite(fixture.deps.em(), fixture.clock, site.id, 'It asks for <passwords>.');
  expect((await owner.browser.open('/account')).text).toContain(
    'operator of this service: It asks for &#60;passwords&#62;.',
  );
});

test('the owner reads what builds are enclosed in, or that nothing encloses them', async () => {
  const owner = await signedIn();
  const record = (sandbox: string) =>
    recordBuilderPresence(fixture.deps.em(), fixture.clock, { id: sandbox, sandbox, slots: 1 });
  const shown = async () =>
    /<p class="hint">[^\n]*their code.*<\/p>/i.exec((await owner.browser.open('/account/settings')).text)?.[0];
  await record('docker');
  expect(await shown()).toContain('kept apart from everything else on this service (docker).');
  await record('unprotected');
  expect(await shown()).toContain('builds some sites without that protection.</strong> Their code can do what');
});

test('expired tokens are not on the page', async () => {
  const owner = await signedIn();
  const expiresAt = new Date(fixture.clock.now().getTime() + 60_000);
  await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name: 'Short-lived', expiresAt });
  expect((await owner.browser.open('/account/agents')).text).toContain('Short-lived');
  fixture.skip(60_000);
  expect((await owner.browser.open('/account/agents')).text).not.toContain('Short-lived');
});

test('a button revokes a token at once on every process', async () => {
  const owner = await signedIn();
  const elsewhere = callWith(second.url, owner.token);
  expect((await elsewhere('GET', '/v1/account')).status).toBe(200);
  const page = await owner.browser.open(`/account/agents/${owner.tokenId}/revoke`);
  const after = await owner.browser.press(page, 'Revoke its access');
  expect([after.url, after.text.includes('Laptop</a>')]).toEqual(['/account/agents', false]);
  expect(after.text).toMatch(/<p class="notice" role="status">Laptop &#60;1&#62; no longer has access/);
  expect((await owner.browser.open('/account/agents')).text).not.toContain('role="status"');
  expect((await elsewhere('GET', '/v1/account')).status).toBe(401);
});

test('an address with a NUL byte is refused', async () => {
  const owner = await signedIn();
  await fixture.ask(owner.email);
  const page = await owner.browser.open('/account');
  const [form] = formsOf(page).filter(({ action }) => action.startsWith('/account/requests/'));
  for (const [path, refused] of [
    ['/account/requests/%00', 404],
    ['/account/agents/%00/revoke', 404],
    ['/account/invitations/%00/accept', 400],
  ] as const) {
    const { status } = await owner.browser.go('POST', path, form?.fields, { 'sec-fetch-site': 'same-origin' });
    expect([path, status]).toEqual([path, refused]);
  }
});

test('an open request is approved or denied on the page, with its code alone', async () => {
  const owner = await signedIn();
  const { body: first } = await fixture.ask(owner.email);
  const wrong = await owner.browser.press(await owner.browser.open('/account'), 'Give access', { code: 'BBBBBBBB' });
  expect([wrong.status, wrong.text]).toEqual([400, expect.stringContaining('you have 4 attempts left')]);
  await owner.browser.press(wrong, 'Give access', { code: first.user_code });
  expect((await fixture.redeem(first)).body.status).toBe('approved');
  const { body: next } = await fixture.ask(owner.email);
  await owner.browser.press(await owner.browser.open('/account'), 'Refuse');
  expect((await fixture.redeem(next)).body.error.code).toBe('access_denied');
});

test('another owner’s data is not found, even with known ids', async () => {
  const [owner, stranger] = [await signedIn(), await signedIn()];
  const { body } = await fixture.ask(stranger.email);
  const fields = formsOf(await owner.browser.open('/account'))[0]?.fields;
  const headers = { 'sec-fetch-site': 'same-origin' };
  for (const [path, more] of [
    [`/account/agents/${stranger.tokenId}/revoke`, {}],
    [`/account/requests/${body.id}`, { answer: 'deny' }],
    [`/account/requests/${body.id}`, { answer: 'approve', code: body.user_code }],
    ['/account/agents/x/revoke', {}],
  ] as const) {
    const answer = await owner.browser.go('POST', path, { ...fields, ...more }, headers);
    expect([path, answer.status]).toEqual([path, 404]);
  }
  expect((await stranger.call('GET', '/v1/account')).status).toBe(200);
  expect((await fixture.redeem(body)).body.status).toBe('pending');
});

test('without a session every owner page leads to sign-in, and no button works', async () => {
  const owner = await signedIn();
  const page = await owner.browser.open(`/account/agents/${owner.tokenId}/revoke`);
  const path = formsOf(page).find(({ action }) => action.includes('/revoke'))?.action ?? '';
  const nobody = newBrowser(fixture.url);
  expect((await nobody.open('/account')).url).toBe('/signin');
  expect((await nobody.go('POST', path, formsOf(page)[0]?.fields, { 'sec-fetch-site': 'same-origin' })).url).toBe(
    '/signin',
  );
  nobody.cookies.set('__Host-frontage_session', `frs_${'A'.repeat(43)}`);
  expect((await nobody.open('/account')).url).toBe('/signin');
  expect((await owner.call('GET', '/v1/account')).status).toBe(200);
});

test('an owner who has to sign in returns to the page that they opened', async () => {
  const owner = await fixture.newOwner();
  for (const path of ['/account/delete', '/account/restore']) {
    const browser = newBrowser(fixture.url);
    expect((await fixture.signIn(browser, owner.email, await browser.open(path))).url).toBe(path);
    const second = newBrowser(fixture.url);
    expect((await fixture.signInByCode(second, owner.email, await second.open(path))).url).toBe(path);
  }
  // A form has no page to return to, and a cookie cannot name a place elsewhere.
  const browser = newBrowser(fixture.url);
  await browser.go('POST', '/account/agents/tok_x/revoke', {}, { 'sec-fetch-site': 'same-origin' });
  expect((await fixture.signIn(browser, owner.email)).url).toBe('/account');
  // A page whose session ended may still ask for the progress of a build, or for a picture.
  for (const dest of ['empty', 'image', 'script']) {
    const followed = newBrowser(fixture.url);
    await followed.go('GET', '/account/delete', undefined, { 'sec-fetch-dest': dest });
    expect([dest, (await fixture.signIn(followed, owner.email)).url]).toEqual([dest, '/account']);
  }
  for (const place of [
    '//evil.example/',
    'https://evil.example/account/',
    '/account/\r\nx: y',
    '/signout',
    '/v1/sites',
  ]) {
    const forged = newBrowser(fixture.url);
    forged.cookies.set('__Host-frontage_continue', Buffer.from(place).toString('base64url'));
    expect((await fixture.signIn(forged, owner.email)).url).toBe('/account');
  }
});

test('a page that one person left open does nothing for the next one', async () => {
  const [first, next] = [await signedIn(), await signedIn()];
  const left = await first.browser.open('/account/settings');
  await fixture.signIn(first.browser, next.email);
  const refused = await first.browser.press(left, 'Save the name', { name: 'Left open' });
  expect([refused.status, refused.text.includes('Please open the page again')]).toEqual([400, true]);
  expect((await next.call('GET', '/v1/account')).body.name).not.toBe('Left open');
  const page = await first.browser.open('/account/settings');
  const saved = await first.browser.press(page, 'Save the name', { name: 'Next' });
  expect(saved.text).toContain('The name is saved.');
  expect((await next.call('GET', '/v1/account')).body.name).toBe('Next');
});

test('a button pressed from another site does nothing', async () => {
  const owner = await signedIn();
  const page = await owner.browser.open(`/account/agents/${owner.tokenId}/revoke`);
  const form = formsOf(page).find(({ action }) => action.includes('/revoke'));
  for (const fields of [form?.fields, {}]) {
    const answer = await owner.browser.go('POST', form?.action ?? '', fields, {
      'sec-fetch-site': 'cross-site',
      origin: 'https://evil.example',
    });
    expect(answer.status).toBe(400);
  }
  expect((await owner.browser.go('POST', form?.action ?? '', {}, { 'sec-fetch-site': 'same-origin' })).status).toBe(
    400,
  );
  expect((await owner.call('GET', '/v1/account')).status).toBe(200);
});

test('a bearer token opens no page, and a session cookie no call', async () => {
  const owner = await signedIn();
  const cookie = [...owner.browser.cookies].map((pair) => pair.join('=')).join('; ');
  expect((await fixture.anyone('GET', '/v1/account', { headers: { cookie } })).status).toBe(401);
  const page = await fetch(`${fixture.url}/account`, {
    redirect: 'manual',
    headers: { authorization: `Bearer ${owner.token}` },
  });
  expect(page.status).toBe(303);
});
