/** What waits for an owner on Home, and what does not. */
import { afterAll, expect, test } from 'vitest';
import { callWith, createSite } from '#test/api/fixture.ts';
import { createInboxFixture } from '#test/inbox/fixture.ts';
import { signedIn } from './session.ts';

const fixture = await createInboxFixture();
afterAll(() => fixture.close());
const { ask } = fixture;

test('a comment that the owner answered waits for no more than their agents', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  const { body: link } = await owner.call('POST', `/v1/sites/${site.id}/review-links`, { body: {} });
  const review = async (path: string, body: object) => {
    const headers = { 'x-review': link.url.split('/').at(-1) };
    const { status, body: answer } = await callWith(fixture.url)('POST', `/review/${path}`, { body, headers });
    expect(status).toBe(200);
    return answer.thread.id;
  };
  const id = await review('threads', { page: '/', body: 'Larger, please', position: {} });
  const browser = await signedIn(fixture, owner.accountId);
  const home = async () => (await browser.open('/account')).text;
  expect(await home()).toContain(`has commented on the home page of ${site.title}.`);
  expect(await home()).toContain(`href="/account/sites/${site.id}/comments#${id}"`);
  const page = await browser.open(`/account/sites/${site.id}/comments`);
  expect(page.text).toContain('>Home page</a></h2>');
  await browser.press(page, 'Send', { message: 'It is larger now.' });
  expect(await home()).toContain('Nothing is waiting for you.');
  const { items } = (await owner.call('GET', '/v1/inbox')).body;
  expect(items).toMatchObject([{ kind: 'open_comment', id, message: 'It is larger now.' }]);
  await review(`threads/${id}`, { message: 'Larger still' });
  expect(await home()).toContain('Larger still');
});

test('Home still lists the enquiries of an archived site, and says so', async () => {
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  await fixture.formWith(site.id, 1);
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  const { text } = await (await signedIn(fixture, owner.accountId)).open('/account');
  expect(text).toContain(`with the form “F” of ${site.title}. The site is archived.`);
});
