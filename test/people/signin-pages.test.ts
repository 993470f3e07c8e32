/**
 * Signing in on two devices, as people see it, without scripts. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { activate, typeInto, walk } from '#test/console/journeys.ts';
import { people } from '#test/invitations/fixture.ts';
import { createOauthFixture, type OauthFixture, pkce } from '#test/oauth/fixture.ts';
import { type Chrome, inspect, type Look, look, looks, openChrome } from '#test/web/looks.ts';

let fixture: OauthFixture;
let chrome: Chrome;
/** Where cookies over plain HTTP stay. */
let here: URL;

beforeAll(async () => {
  fixture = await createOauthFixture();
  here = Object.assign(new URL(fixture.url), { hostname: 'localhost' });
  chrome = await openChrome();
}, 60_000);
afterAll(async () => {
  await chrome?.close();
  await fixture?.close();
});

const newPage = (shown: Look) => chrome.newPage(shown, { javaScriptEnabled: false });
const goTo = (page: Page, path: string) => page.goto(new URL(path, here).href);
const press = (page: Page, name: string) => page.getByRole('button', { name, exact: true }).click();

/** From the page that asks for the address to the one that waits for a code. */
async function askFor(page: Page, email: string): Promise<string> {
  await page.getByLabel('E-mail address').fill(email);
  await press(page, 'Send me a link');
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  return await fixture.linkTo(email, 'signin-link');
}

/** Two windows, each at six pages. */
const slow = { timeout: 60_000 };

test.each(looks)('a code from another device opens the invitation, at $width px', slow, async (shown) => {
  const see = shown.width === 390 ? inspect : look;
  const ask = people(fixture);
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const guest = await fixture.newOwner();
  await ask.invite(owner, site.id, guest.email);
  const [laptop, phone] = [await newPage(shown), await newPage(shown)];
  await goTo(laptop, await fixture.linkTo(guest.email, 'invitation'));
  await see(laptop, 'signin', shown);
  const link = await askFor(laptop, guest.email);
  await see(laptop, 'waiting', shown);
  await goTo(phone, link);
  await phone.getByText(/Chrome on Linux/).waitFor();
  await see(phone, 'link', shown);
  await press(phone, 'Show a code');
  const code = (await phone.locator('p.code').textContent()) ?? '';
  await see(phone, 'code', shown);
  await laptop.getByLabel('Code (6 digits)').fill(code === '000000' ? '000001' : '000000');
  await press(laptop, 'Sign in');
  await laptop.getByText('you have 4 attempts left').waitFor();
  await see(laptop, 'wrong', shown);
  await laptop.getByLabel('Code (6 digits)').fill(code);
  await press(laptop, 'Sign in');
  await laptop.getByText(`invited ${guest.email}`).waitFor();
  await see(laptop, 'invitation', shown);
  await goTo(phone, '/account');
  expect(new URL(phone.url()).pathname).toBe('/signin');
  await goTo(phone, link);
  await phone.getByText('This link has expired').waitFor();
  await laptop.context().close();
  await phone.context().close();
});

test('a code from another device opens the consent page that an app asked for', async () => {
  const { email } = await fixture.newOwner();
  const { body: client } = await fixture.register();
  const [laptop, phone] = [await newPage({ width: 1280 }), await newPage({ width: 390 })];
  await goTo(laptop, fixture.question(client.client_id, pkce().challenge));
  await goTo(phone, await askFor(laptop, email));
  await press(phone, 'Show a code');
  await laptop.getByLabel('Code (6 digits)').fill((await phone.locator('p.code').textContent()) ?? '');
  await press(laptop, 'Sign in');
  await laptop.getByRole('button', { name: 'Give access' }).waitFor();
  expect(new URL(laptop.url()).pathname).toBe('/oauth/authorize');
  await laptop.context().close();
  await phone.context().close();
});

test.each(looks)('the browser that asked signs in with one press, at $width px', async (shown) => {
  const { email } = await fixture.newOwner();
  const page = await newPage(shown);
  await goTo(page, '/account/delete');
  await goTo(page, await askFor(page, email));
  await inspect(page, 'same', shown);
  await press(page, 'Sign in');
  await page.getByRole('heading', { name: 'Delete your account?' }).waitFor();
  await page.context().close();
});

test('with the keyboard alone, in forced colours, a code signs a person in', async () => {
  const { email } = await fixture.newOwner();
  const shown: Look = { width: 1280 };
  const page = await chrome.newPage(shown, { javaScriptEnabled: false, forcedColors: 'active' });
  const phone = await newPage({ width: 390 });
  walk(page, { keyboard: true });
  const pressKey = (name: string) => activate(page, page.getByRole('button', { name, exact: true }));
  await goTo(page, '/signin');
  await inspect(page, 'signin-forced', shown);
  await typeInto(page, 'E-mail address', email);
  await pressKey('Send me a link');
  await goTo(phone, await fixture.linkTo(email, 'signin-link'));
  await press(phone, 'Show a code');
  await typeInto(page, 'Code (6 digits)', (await phone.locator('p.code').textContent()) ?? '');
  await pressKey('Sign in');
  await page.getByRole('heading', { name: 'Your sites' }).waitFor();
  for (const one of [page, phone]) await one.context().close();
});
