/**
 * The pages on which an owner chooses and widens what an agent may do, as people see them. `FRONTAGE_PICTURES=<folder>`
 * keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { usualScope } from '#rules/scopes.ts';
import { callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { createOauthFixture, type OauthFixture, pkce } from '#test/oauth/fixture.ts';
import { type Chrome, type Look, look, looks, openChrome } from '#test/web/looks.ts';

let fixture: OauthFixture;
let chrome: Chrome;
/** Where cookies over plain HTTP stay. */
let here: URL;

beforeAll(async () => {
  fixture = await createOauthFixture();
  here = Object.assign(new URL(fixture.url), { hostname: 'localhost' });
  chrome = await openChrome('MAP *.example ~NOTFOUND');
}, 60_000);
afterAll(async () => {
  await chrome?.close();
  await fixture?.close();
});

const newPage = (shown: Look) => chrome.newPage(shown);
const goTo = (page: Page, path: string) => page.goto(new URL(path, here).href);

async function signIn(page: Page, email: string): Promise<void> {
  await page.getByLabel(/address/i).fill(email);
  await page.getByRole('button', { name: 'Send me a link' }).click();
  await page.getByText('Check your e-mail').waitFor();
  await goTo(page, await fixture.linkTo(email, 'signin-link'));
  await page.getByRole('button', { name: 'Sign in' }).click();
}

/** An owner with two sites. */
async function newOwner() {
  const { email, accountId } = await fixture.newOwner();
  const { deps, clock, url } = fixture;
  const { secret } = await issueToken(deps.em(), clock, accountId, { name: 'first' });
  const owner = { accountId, token: secret, call: callWith(url, secret) };
  const sites = [await createSite(owner, { title: 'The bakery' }), await createSite(owner, { title: 'The pottery' })];
  return { email, ...owner, sites };
}

test.each(looks)('an owner chooses a website and reading on the approval page, $width px', async (shown) => {
  const { email, sites } = await newOwner();
  const asked = await fixture.ask(email);
  const page = await newPage(shown);
  await goTo(page, await fixture.linkTo(email, 'access-request'));
  expect(await page.getByLabel('All of them, also new ones').isChecked()).toBe(true);
  expect(await page.getByLabel('Change and publish websites').isChecked()).toBe(true);
  for (const power of [/where money goes/, /Changing the account/])
    expect(await page.getByLabel(power).isChecked()).toBe(false);
  expect(await page.getByLabel('The pottery').isVisible()).toBe(false);
  await page.getByLabel('Only these').check();
  await page.getByLabel('The pottery').check();
  await page.getByLabel('Only read them').check();
  await page.getByLabel(/Code shown/).fill(asked.body.user_code);
  await look(page, 'approval', shown);
  await page.getByRole('button', { name: 'Give access' }).click();
  await page.getByText('Access granted').waitFor();
  const { body } = await fixture.redeem(asked.body);
  expect(body.token.scope).toEqual({ ...usualScope, access: 'read', sites: [sites[1]?.id] });
  await page.context().close();
});

test.each(looks)('an owner gives an app a power on the consent page, $width px', async (shown) => {
  const { email } = await newOwner();
  const { body: client } = await fixture.register();
  const { verifier, challenge } = pkce();
  const page = await newPage(shown);
  await goTo(page, fixture.question(client.client_id, challenge));
  await signIn(page, email);
  await page.getByLabel(/where money goes/).check();
  await look(page, 'consent', shown);
  const leaving = page.waitForEvent('requestfailed', (request) =>
    request.url().startsWith('https://connector.example'),
  );
  await page.getByRole('button', { name: 'Give access' }).click();
  const code = new URL((await leaving).url()).searchParams.get('code') ?? '';
  const { body } = await fixture.exchange({ clientId: client.client_id, verifier, code });
  expect(body.scope).toBe('sites:read sites:write payouts');
  await page.context().close();
});

test.each(looks)('an owner allows a refused call once, from its link, $width px', async (shown) => {
  const { email, accountId, sites } = await newOwner();
  const [site, other] = sites;
  const scope = { ...usualScope, sites: [other?.id as string] };
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, accountId, { name: 'Claude', scope });
  const change = () =>
    callWith(fixture.url, secret)('PATCH', `/v1/sites/${site?.id}`, { body: { title: `New ${shown.width}` } });
  const link = new URL(/https?:\/\/\S+$/.exec(errorOf(await change()).next_action ?? '')?.[0] ?? '');
  const page = await newPage(shown);
  await goTo(page, `${link.pathname}${link.search}`);
  await signIn(page, email);
  await page.getByRole('heading', { name: 'Let “Claude” do this?' }).waitFor();
  await goTo(page, '/account');
  await page.getByRole('heading', { name: 'Your agents ask for more' }).waitFor();
  await look(page, 'refused-call', shown);
  await page.getByRole('link', { name: 'Decide' }).click();
  await page.getByRole('heading', { name: 'Let “Claude” do this?' }).waitFor();
  await look(page, 'widening', shown);
  await page.getByRole('button', { name: 'Allow once' }).click();
  await page.getByText('Allowed once').waitFor();
  expect([(await change()).status, (await change()).status]).toEqual([200, 403]);
  await goTo(page, '/account/agents');
  await page.getByText('one website · may change it').waitFor();
  await look(page, 'account', shown);
  await page.context().close();
});
