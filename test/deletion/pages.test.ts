/**
 * The pages and e-mails with which an owner ends access, changes the address, and deletes a site and the account, as
 * people see them. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { usualScope } from '#rules/scopes.ts';
import { callWith, createSite } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';
import { launchChromium } from '#test/web/chromium.ts';
import type { MailKind } from '#web/mails/mails.ts';

vi.setConfig({ testTimeout: 120_000 });
const pictures = process.env.FRONTAGE_PICTURES;
let fixture: PeopleFixture;
let chrome: Browser;
beforeAll(async () => {
  fixture = await createPeopleFixture();
  chrome = await launchChromium();
}, 60_000);
afterAll(async () => {
  await chrome?.close();
  await fixture?.close();
});

/** Keeps pictures, and finds nothing wider than the window. */
async function look(page: Page, name: string): Promise<void> {
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme });
      const path = join(pictures ?? '', `${name}-${width}-${colorScheme}.png`);
      if (pictures) await page.screenshot({ path, fullPage: true });
      expect([name, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([name, width]);
    }
  }
}

/** Cookies over plain HTTP stay on localhost. */
const goTo = (page: Page, path: string) =>
  page.goto(new URL(path, Object.assign(new URL(fixture.url), { hostname: 'localhost' })).href);
const press = (page: Page, name: string) =>
  page
    .getByRole('button', { name, exact: true })
    .or(page.getByRole('link', { name, exact: true }))
    .first()
    .click();
const pressTo = async (page: Page, button: string, heading: string, picture: string) => {
  await press(page, button);
  await page.getByRole('heading', { name: heading }).waitFor();
  await look(page, picture);
};
const heading = (page: Page) => page.getByRole('heading', { level: 1 }).textContent();
const newPage = async () => await (await chrome.newContext()).newPage();

async function signedIn(email: string, heading = 'Your sites'): Promise<Page> {
  const page = await newPage();
  await goTo(page, '/signin');
  await page.getByLabel('E-mail address').fill(email);
  await press(page, 'Send me a link');
  await page.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  await goTo(page, await fixture.linkTo(email, 'signin-link'));
  await press(page, 'Sign in');
  await page.getByRole('heading', { name: heading }).waitFor();
  return page;
}

/** Shows the newest e-mail of this kind as its reader sees it. Returns its link and its code. */
async function readMail(address: string, kind: MailKind, name: string = kind) {
  const letter = (await fixture.lettersTo(address)).find((one) => one.kind === kind);
  // No page of ours was open here: its policy would stay.
  const page = await newPage();
  await page.setContent(letter?.html ?? '');
  await look(page, `mail-${name}`);
  const { link = '', code = '' } = letter ?? {};
  if (code) expect(await page.getByText(code, { exact: true }).count()).toBe(1);
  await page.context().close();
  return { link, code };
}

test('people read the e-mails of an address change, and undo it', async () => {
  const owner = await fixture.newSignedIn('Claude');
  const next = fixture.newAddress();
  await owner.call('PATCH', '/v1/account', { body: { email: next } });
  const page = await newPage();
  const follow = async (address: string, kind: MailKind, name: string, button: string) => {
    const { link, code } = await readMail(address, kind, name);
    await goTo(page, link);
    await look(page, `page-${name}`);
    await page.getByLabel(/code/i).fill('BCDFGHJK');
    await press(page, button);
    expect(await page.getByRole('alert').textContent()).toContain('4 attempts left');
    await look(page, `wrong-${name}`);
    await page.getByLabel(/code/i).fill(code.toLowerCase());
    await press(page, button);
    await look(page, `done-${name}`);
    return await heading(page);
  };
  const confirmed = await follow(owner.email, 'address-change', 'old', 'Confirm the change');
  expect(confirmed).toBe('Now confirm it from the new address');
  const changed = await follow(next, 'address-confirmation', 'new', 'Use this address');
  expect(changed).toBe('Your e-mail address has changed');
  await page.getByText('every browser is signed out').waitFor();
  expect(await follow(owner.email, 'address-change', 'undo', 'Undo the change')).toBe('The change is undone');
  await page.context().close();
});

test('an owner stops a change of address, with the code alone', async () => {
  const { email } = await fixture.newOwner();
  const page = await signedIn(email);
  await goTo(page, '/account/settings');
  await page.getByLabel('New e-mail address').fill(fixture.newAddress());
  await press(page, 'Change my address');
  await page.getByText('is waiting for confirmation').waitFor();
  await look(page, 'account-changing');
  const { link, code } = await readMail(email, 'address-change', 'to-stop');
  await goTo(page, link);
  await press(page, 'Stop the change');
  expect(await heading(page)).toBe('Change your e-mail address?');
  await page.getByLabel(/code/i).fill(' ');
  await press(page, 'Stop the change');
  expect(await page.getByRole('alert').textContent()).toMatch(/^No code was typed\. .* 5 attempts left\.$/);
  await look(page, 'stop-without-a-code');
  await page.getByLabel(/code/i).fill(code);
  await pressTo(page, 'Stop the change', 'The change is stopped', 'stopped');
  await goTo(page, '/account/settings');
  await page.getByRole('button', { name: 'Change my address' }).waitFor();
  await page.context().close();
});

test('a person declines an invitation, accepts another, and leaves that site', async () => {
  const owner = await fixture.newSignedIn('Claude');
  const { email } = await fixture.newOwner();
  const page = await signedIn(email);
  const invite = async (title: string) => {
    await people(fixture).invite(owner, (await createSite(owner, { title })).id, email);
    return await readMail(email, 'invitation');
  };
  const { link } = await invite('The bakery');
  await goTo(page, link);
  await look(page, 'invitation');
  await pressTo(page, 'Decline', 'Decline this invitation?', 'declining');
  await pressTo(page, 'Decline', 'You have declined this invitation', 'declined');
  await invite('The pottery');
  await goTo(page, '/account');
  await look(page, 'account-invited');
  await press(page, 'Accept');
  await page.getByText('The pottery').waitFor();
  await look(page, 'account-collaborator');
  await pressTo(page, 'Leave', 'Leave', 'leaving');
  await pressTo(page, 'Leave', 'You have left', 'left');
  await page.context().close();
});

test('an owner refuses a call of an agent, and always allows another', async () => {
  const owner = await fixture.newSignedIn('Claude');
  const site = await createSite(owner, { title: 'The bakery' });
  const scope = { ...usualScope, access: 'read' } as const;
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, owner.accountId, { name: 'Reader', scope });
  const call = callWith(fixture.url, secret);
  const rename = () => call('PATCH', `/v1/sites/${site.id}`, { body: { title: 'The bakery at the mill' } });
  const page = await signedIn(owner.email);
  const decide = async (name: string, button: string, answer: string) => {
    expect((await rename()).status).toBe(403);
    await goTo(page, '/account');
    await page.getByRole('link', { name: 'Decide' }).click();
    await page.getByText('title “The bakery at the mill”').waitFor();
    await look(page, `asks-${name}`);
    await pressTo(page, button, answer, name);
  };
  await decide('refused', 'Refuse', 'Refused');
  fixture.skip(24 * 3_600_000);
  await decide('allowed-always', 'Allow always', 'Allowed from now on');
  expect([(await rename()).status, (await rename()).status]).toEqual([200, 200]);
  await page.context().close();
});

test('an owner ends a git password, and an invitation by an agent', async () => {
  const owner = await fixture.newSignedIn('Claude');
  const site = await createSite(owner, { title: 'The bakery' });
  await owner.call('POST', `/v1/sites/${site.id}/git-credentials`, { body: { repository: 'source', access: 'read' } });
  await people(fixture).invite(owner, site.id, 'a-friend-with-a-long-name@bakeries-of-the-old-town.example.com');
  const page = await signedIn(owner.email);
  await goTo(page, '/account/agents');
  await look(page, 'agents');
  const passwords = page.locator('section', { hasText: 'Git passwords' });
  await passwords.getByText('1 git password was never used').click();
  await passwords.getByRole('link', { name: 'Revoke' }).click();
  await page.getByRole('button', { name: 'Revoke it' }).click();
  await page.getByText('The git password no longer works.').waitFor();
  const { link } = await readMail(owner.email, 'collaborator-invited');
  await goTo(page, link);
  await look(page, 'invited');
  await pressTo(page, 'End their access', 'They have no access', 'uninvited');
  await page.context().close();
});

test('an owner chooses their e-mails', async () => {
  const owner = await fixture.newSignedIn('Claude');
  await owner.call('POST', '/v1/tokens', { body: { name: 'An agent with a long name: the helper of the bakery' } });
  const page = await signedIn(owner.email);
  expect((await readMail(owner.email, 'agent-admitted')).link).toBe('/account/agents');
  await goTo(page, '/account/settings');
  await page.getByRole('link', { name: 'Choose your e-mails' }).click();
  await look(page, 'mails');
  await page.getByLabel('A version of your website could not be published.').uncheck();
  await page.getByLabel('A week is over').check();
  await press(page, 'Save');
  expect(await page.getByRole('status').textContent()).toBe('Your choice is saved.');
  await look(page, 'mails-saved');
  expect(await page.getByLabel('could not be published').isChecked()).toBe(false);
  expect(await page.getByLabel('A week is over').isChecked()).toBe(true);
  await page.context().close();
});

test('an owner restores a site, deletes the account, and restores it', async () => {
  const owner = await fixture.newSignedIn('Claude');
  const site = await createSite(owner, { title: 'The bakery' });
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  await owner.call('DELETE', `/v1/sites/${site.id}?confirm=true`);
  const page = await signedIn(owner.email);
  await look(page, 'account-deleting-a-site');
  const { link } = await readMail(owner.email, 'site-deletion');
  await goTo(page, link);
  await look(page, 'site-restore');
  await press(page, 'Restore');
  await page.getByRole('heading', { name: 'Your sites' }).waitFor();
  await goTo(page, link);
  await look(page, 'site-restored');
  await goTo(page, '/account/delete');
  await look(page, 'account-delete');
  await press(page, 'E-mail me the code');
  await look(page, 'account-delete-code');
  const { code } = await readMail(owner.email, 'account-deletion', 'account-deletion-asked');
  await page.getByLabel(/code/i).fill(code);
  await pressTo(page, 'Delete my account', 'Your account is being deleted', 'account-deleted');
  const done = await readMail(owner.email, 'account-deletion', 'account-deletion-done');
  await goTo(page, done.link);
  await look(page, 'signin-to-restore');
  await page.context().close();
  const again = await signedIn(owner.email, 'Keep your account?');
  await look(again, 'account-restore');
  await press(again, 'Restore my account');
  await again.getByRole('heading', { name: 'Your sites' }).waitFor();
  await again.context().close();
});
