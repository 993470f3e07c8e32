/** The owner is told by mail of whom a token invites, and ends that access on a page. */
import { afterAll, expect, test, vi } from 'vitest';
import { callWith, createSite } from '#test/api/fixture.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { people } from './fixture.ts';

vi.setConfig({ testTimeout: 60_000 });

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const ask = people(fixture);

/** A thief's address that a stolen token has invited, and the page of which the owner was told. */
async function invited() {
  const owner = await fixture.newSignedIn('Mira');
  const site = await createSite(owner);
  const { body: stolen } = await owner.call('POST', '/v1/tokens', { body: { name: 'Stolen agent' } });
  const thief = await fixture.newCaller();
  const byThief = { ...owner, call: callWith(fixture.url, stolen.access_token) };
  const email = await ask.emailOf(thief);
  const { status, body } = await ask.invite(byThief, site.id, email);
  expect(status).toBe(200);
  const [letter] = await fixture.lettersTo(owner.email);
  expect(letter?.kind).toBe('collaborator-invited');
  for (const text of [letter?.text, letter?.html])
    for (const word of [email, `Stolen agent, an agent of ${owner.email}`]) expect(text).toContain(word);
  const link = await fixture.linkTo(owner.email, 'collaborator-invited');
  return { owner, site, stolen, thief, email, invitationId: body.id as string, link };
}

test('the owner withdraws a thief’s invitation on the mailed page', async () => {
  const { owner, thief, email, invitationId, link } = await invited();
  expect((await fixture.browser().open(link)).url).toContain('/signin');
  const stranger = await fixture.newSignedIn();
  expect((await stranger.browser.open(link)).status).toBe(404);
  const page = await owner.browser.open(link);
  expect(page.text).toContain(email);
  expect(page.text).toContain('They have not accepted yet.');
  expect((await owner.browser.press(page, 'End their access')).text).toContain('They have no access');
  expect((await ask.accept(thief, invitationId)).status).toBe(404);
  expect((await owner.browser.open(link)).text).toContain('They have no access');
  expect((await owner.browser.press(page, 'End their access')).status).toBe(200);
});

test('the owner removes a thief who has accepted, on the mailed page', async () => {
  const { owner, site, stolen, thief, invitationId, link } = await invited();
  expect((await ask.accept(thief, invitationId)).status).toBe(200);
  expect((await owner.call('DELETE', `/v1/tokens/${stolen.id}`)).status).toBe(200);
  // What the mail is for: the token has ended, the thief has not.
  expect((await thief.call('GET', `/v1/sites/${site.id}`)).status).toBe(200);
  const page = await owner.browser.open(link);
  expect(page.text).toContain('They accepted');
  await owner.browser.press(page, 'End their access');
  expect((await thief.call('GET', `/v1/sites/${site.id}`)).status).toBe(404);
  expect((await owner.browser.open(link)).text).toContain('They have no access');
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
  expect(items[0]).toMatchObject({ action: 'collaborator.removed', via: { kind: 'person' } });
});
