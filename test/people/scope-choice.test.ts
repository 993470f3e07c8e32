/** What an owner ticks for an agent or an app is what its token may do. */
import { afterAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { everything, usualScope } from '#rules/scopes.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { createOauthFixture, pkce } from '#test/oauth/fixture.ts';
import { formsOf } from './browser.ts';

const fixture = await createOauthFixture();
afterAll(() => fixture.close());

const powers = { payouts: 'yes', account: 'yes' };

/** Asks, and answers on the page that the mail links to. */
async function approve(email: string, ticked: Record<string, string>) {
  const asked = await fixture.ask(email);
  const browser = fixture.browser();
  const page = await browser.open(await fixture.linkTo(email, 'access-request'));
  const typed = { code: asked.body.user_code, ...ticked };
  const shown = await browser.press(page, 'Give access', typed);
  return { page, shown, redeem: () => fixture.redeem(asked.body) };
}

test('an approved agent has the usual scope unless the owner ticks otherwise', async () => {
  const { email } = await fixture.newOwner();
  expect((await (await approve(email, {})).redeem()).body.token.scope).toEqual(usualScope);
  const { redeem } = await approve(email, { access: 'read', ...powers });
  expect((await redeem()).body.token.scope).toEqual({ ...everything, access: 'read' });
});

test('an owner gives an agent one website, and none of others', async () => {
  const owner = await fixture.newSignedIn();
  const call = await callOf(owner.accountId);
  const [site, other] = [await createSite(call), await createSite(call)];
  const foreign = await createSite(await fixture.newCaller());
  const { page, redeem } = await approve(owner.email, { sites: 'some', site: site.id });
  expect(page.text).toContain(`value="${other.id}"`);
  expect(page.text).not.toContain(foreign.id);
  expect((await redeem()).body.token.scope).toEqual({ ...usualScope, sites: [site.id] });
  const forged = await approve(owner.email, { sites: 'some', site: foreign.id });
  expect((await forged.redeem()).body.token.scope.sites).toEqual([]);
});

test('an owner who ticks no website is asked again, and keeps what they ticked', async () => {
  const owner = await fixture.newSignedIn();
  await createSite(await callOf(owner.accountId));
  const { shown } = await approve(owner.email, { sites: 'some', access: 'read' });
  expect([shown.status, shown.text.includes('Choose at least one website')]).toEqual([400, true]);
  expect(shown.text).toMatch(/value="read" checked/);
  expect(shown.text).toMatch(/value="some" checked/);
});

test('a request approved on the account page has the scope ticked there', async () => {
  const owner = await fixture.newSignedIn();
  const asked = await fixture.ask(owner.email);
  const page = await owner.browser.open('/account');
  await owner.browser.press(page, 'Give access', { code: asked.body.user_code, access: 'read' });
  expect((await fixture.redeem(asked.body)).body.token.scope).toEqual({ ...usualScope, access: 'read' });
  expect((await owner.browser.open('/account/agents')).text).toContain('all websites · may only read');
});

test('a wrong code on the account page keeps what was ticked for that request', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(await callOf(owner.accountId));
  const [asked, other] = [await fixture.ask(owner.email), await fixture.ask(owner.email)];
  const formOf = (page: { text: string }, { id }: { id: string }) =>
    formsOf(page).find(({ action, inside }) => action.endsWith(id) && inside.includes('Give access'));
  const form = formOf(await owner.browser.open('/account'), asked.body);
  const ticked = { answer: 'approve', access: 'read', sites: 'some', site: site.id, payouts: 'yes', code: 'BCDFGHJK' };
  const sent = { ...form?.fields, ...ticked };
  const sameOrigin = { 'sec-fetch-site': 'same-origin' };
  const wrong = await owner.browser.go('POST', form?.action ?? '', sent, sameOrigin);
  expect([wrong.status, wrong.text.includes('you have 4 attempts left')]).toEqual([400, true]);
  const chosen = (one: { id: string }) =>
    [...(formOf(wrong, one)?.inside ?? '').matchAll(/name="(\w+)" value="([^"]+)" checked/g)].map(
      ([, ...pair]) => pair,
    );
  expect(chosen(asked.body)).toEqual([
    ['access', 'read'],
    ['sites', 'some'],
    ['site', site.id],
    ['payouts', 'yes'],
  ]);
  expect(chosen(other.body)).toEqual([
    ['access', 'write'],
    ['sites', 'all'],
  ]);
});

test('an app keeps the scope that its owner chose through refreshes', async () => {
  const owner = await fixture.newSignedIn();
  const { body: client } = await fixture.register();
  const { verifier, challenge } = pkce();
  const question = fixture.question(client.client_id, challenge, { scope: 'sites:read payouts unknown' });
  const consent = await owner.browser.open(question);
  const answered = await owner.browser.press(consent, 'Give access', { access: 'read', account: 'yes' });
  const code = fixture.locationOf(answered).searchParams.get('code') ?? '';
  const { body: issued } = await fixture.exchange({ clientId: client.client_id, verifier, code });
  expect(issued.scope).toBe('sites:read account');
  const { body: renewed } = await fixture.renew(client.client_id, issued.refresh_token);
  expect(renewed.scope).toBe('sites:read account');
  const { body } = await callWith(fixture.url, renewed.access_token)('GET', '/v1/tokens');
  expect(body.items[0].scope).toEqual({ ...usualScope, access: 'read', account: true });
});

test('the metadata lists the scopes, and a plain approval grants reading and writing', async () => {
  const server = await fixture.anyone('GET', '/.well-known/oauth-authorization-server');
  expect(server.body.scopes_supported).toEqual(['sites:read', 'sites:write', 'payouts', 'account']);
  const owner = await fixture.newSignedIn();
  const held = await fixture.approve(owner.browser);
  expect((await fixture.exchange(held)).body.scope).toBe('sites:read sites:write');
});

async function callOf(accountId: string) {
  const { deps, clock } = fixture;
  const { secret } = await issueToken(deps.em(), clock, accountId, { name: 'first' });
  return { accountId, token: secret, call: callWith(fixture.url, secret) };
}
