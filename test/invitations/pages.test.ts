/** An invitation in a browser: from the mail's link to the site on the owner's page. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { issueToken } from '#api/tokens/rules.ts';
import { type Caller, callWith } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { type People, people } from './fixture.ts';

let fixture: Awaited<ReturnType<typeof createPeopleFixture>>;
let ask: People;
let owner: Caller;

beforeAll(async () => {
  fixture = await createPeopleFixture();
  ask = people(fixture);
  owner = await fixture.newCaller();
});
afterAll(() => fixture.close());

async function signedIn() {
  const person = await fixture.newOwner();
  const { secret } = await issueToken(fixture.deps.em(), fixture.clock, person.accountId, { name: 'agent' });
  const browser = fixture.browser();
  await browser.press(await browser.open('/signin'), 'Send me a link', { email: person.email });
  await browser.press(await browser.open(await fixture.linkTo(person.email, 'signin-link')), 'Sign in');
  return { ...person, browser, call: callWith(fixture.url, secret), token: secret };
}

test('the mailed link leads through sign-in to a page that accepts', async () => {
  const site = await ask.newSite(owner);
  const guest = await signedIn();
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

test('the account page lists invitations and accepts them', async () => {
  const site = await ask.newSite(owner);
  const guest = await signedIn();
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
  const [guest, other] = [await signedIn(), await signedIn()];
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
