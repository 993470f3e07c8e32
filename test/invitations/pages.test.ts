/** An invitation in a browser: from the mail's link to the site on the owner's page. */
import { afterAll, expect, test } from 'vitest';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { people } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const ask = people(fixture);
const owner = await fixture.newCaller();

test('the mailed link leads through sign-in to a page that accepts', async () => {
  const site = await ask.newSite(owner);
  const guest = await fixture.newSignedIn();
  await ask.invite(owner, site.id, guest.email);
  const link = await fixture.linkTo(guest.email, 'invitation');
  const nobody = await fixture.browser().open(link);
  expect([nobody.url, nobody.text.includes(site.name)]).toEqual(['/signin?for=invitation', false]);
  expect(nobody.text).toContain('the e-mail address that it was sent to');

  const page = await guest.browser.open(link);
  expect(page.status).toBe(200);
  expect(page.text).toContain(`${site.name}.sites.localhost`);
  expect(page.text).not.toContain('Do not say this aloud');
  // Opening it accepted nothing.
  expect((await guest.call('GET', `/v1/sites/${site.id}`)).status).toBe(404);
  const after = await guest.browser.press(page, 'Accept');
  expect([after.url, after.text.includes('Do not say this aloud')]).toEqual(['/account', true]);
  expect((await guest.call('GET', `/v1/sites/${site.id}`)).body.role).toBe('collaborator');
  expect((await guest.browser.open(link)).text).toContain('You have accepted this');
});

test('a person who signs in from the mailed link returns to the invitation', async () => {
  const { email: inviter, name } = (await owner.call('GET', '/v1/account')).body;
  for (const way of ['press', 'code'] as const) {
    const site = await ask.newSite(owner);
    const guest = await fixture.newOwner();
    const { body } = await ask.invite(owner, site.id, guest.email);
    const browser = fixture.browser();
    const signin = await browser.open(await fixture.linkTo(guest.email, 'invitation'));
    const page =
      way === 'press'
        ? await fixture.signIn(browser, guest.email, signin)
        : await fixture.signInByCode(browser, guest.email, signin);
    expect([page.status, page.url]).toEqual([200, `/invitations/${body.id}`]);
    for (const words of [`${site.name}.sites.localhost`, name, inviter, guest.email])
      expect(page.text).toContain(words);
    expect((await browser.press(page, 'Accept')).text).toContain('Do not say this aloud');
    // Only once: later sign-ins open the account.
    await browser.press(await browser.open('/account'), 'Sign out');
    expect((await fixture.signIn(browser, guest.email)).url).toBe('/account');
  }
});

test('an invitation to somebody else stays hidden after signing in', async () => {
  const site = await ask.newSite(owner);
  const other = await fixture.newOwner();
  await ask.invite(owner, site.id, fixture.newAddress());
  const { body } = await ask.invite(owner, site.id, fixture.newAddress());
  const browser = fixture.browser();
  const page = await fixture.signIn(browser, other.email, await browser.open(`/invitations/${body.id}`));
  expect([page.status, page.text.includes(site.name)]).toEqual([404, false]);
  expect(page.text).toContain(other.email);
});

test('the account page lists invitations and accepts them', async () => {
  const site = await ask.newSite(owner);
  const guest = await fixture.newSignedIn();
  expect((await guest.browser.open('/account')).text).not.toContain('Invitations');
  const { body } = await ask.invite(owner, site.id, guest.email);
  const page = await guest.browser.open('/account');
  expect(page.text).toContain(`${site.name}.sites.localhost`);
  await guest.browser.press(page, 'Accept');
  expect((await guest.call('GET', `/v1/sites/${site.id}`)).status).toBe(200);
  expect((await ask.withdraw(owner, site.id, body.id)).body.error.code).toBe('invitation_accepted');
});

test('invitations to another address, withdrawn or unknown ones are not found', async () => {
  const site = await ask.newSite(owner);
  const [guest, other] = [await fixture.newSignedIn(), await fixture.newSignedIn()];
  const { body } = await ask.invite(owner, site.id, guest.email);
  const link = `/invitations/${body.id}`;
  const seen = await other.browser.open(link);
  expect([seen.status, seen.text.includes(site.name)]).toEqual([404, false]);
  const forms = await guest.browser.open(link);
  await ask.withdraw(owner, site.id, body.id);
  expect((await guest.browser.open(link)).status).toBe(404);
  expect((await guest.browser.press(forms, 'Accept')).status).toBe(404);
  expect((await guest.call('GET', `/v1/sites/${site.id}`)).status).toBe(404);
  for (const odd of ['/invitations/x', '/invitations/%00', '/invitations/inv_01h455vb4pex5vsknk084sn02q']) {
    expect((await guest.browser.open(odd)).status).toBe(404);
  }
});
