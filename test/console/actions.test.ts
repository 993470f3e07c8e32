/** Forms of the console call the API’s operations as the person of the session. */
import { afterAll, expect, test } from 'vitest';
import { mailChoicesPath } from '#runtime/owner-pages.ts';
import { createSite, errorOf } from '#test/api/fixture.ts';
import { formsOf } from '#test/people/browser.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const sameOrigin = { 'sec-fetch-site': 'same-origin' };

test('a refused form keeps its values, and names the fault at its field', async () => {
  const { browser } = await fixture.newSignedIn();
  const page = await browser.open('/account/settings');
  const typed = '"><script>alert(1)</script>@example';
  const refused = await browser.press(page, 'Change my address', { email: typed });
  expect(refused.status).toBe(400);
  expect(refused.text).not.toContain('<script>alert');
  expect(refused.text).toMatch(/<p class="fault" role="alert">[^<]*not a valid e-mail address/);
  expect(refused.text).toMatch(/name="email"[^>]* aria-describedby="account-address-email-fault" aria-invalid="true"/);
  expect(refused.text).toContain('value="&#34;&#62;&#60;script&#62;');
});

test('a reply of 4000 letters arrives in every script', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  const { body: thread } = await owner.call('POST', `/v1/sites/${site.id}/comments`, {
    body: { page: '/', body: 'Larger, please' },
  });
  const page = await owner.browser.open(`/account/sites/${site.id}/comments`);
  const message = '字'.repeat(4000);
  expect((await owner.browser.press(page, 'Send', { message })).text).toContain('Your reply is added to the comment.');
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/comments`)).body;
  expect(items[0]).toMatchObject({ id: thread.id });
  expect(items[0].messages.at(-1).body).toBe(message);
});

test('a refused reply to a resolved comment stays where it was typed', async () => {
  const owner = await fixture.newSignedIn();
  const { browser } = owner;
  const site = await createSite(owner);
  const comments = `/v1/sites/${site.id}/comments`;
  const { body: thread } = await owner.call('POST', comments, { body: { page: '/', body: 'Larger, please' } });
  await owner.call('POST', comments, { body: { thread_id: thread.id, action: 'resolve' } });
  const page = await browser.open(`/account/sites/${site.id}/comments?status=resolved`);
  const long = 'larger '.repeat(600);
  const refused = await browser.press(page, 'Send', { message: long });
  expect([refused.status, refused.text.includes(long)]).toEqual([400, true]);
  const sent = await browser.press(refused, 'Send', { message: 'It is larger now.' });
  expect([sent.text.includes('Your reply is added to the comment.'), sent.text.includes('It is larger now.')]).toEqual([
    true,
    true,
  ]);
});

test('the history and the e-mails page speak of what the owner knows', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  await owner.call('DELETE', `/v1/sites/${site.id}?confirm=true`);
  const asked = await owner.browser.open(`/account/sites/${site.id}/restore`);
  expect(asked.text).toContain('<a href="/account">Go back</a>');
  await owner.browser.press(asked, 'Restore[^<]*');
  const { text } = await owner.browser.open(`/account/sites/${site.id}/history`);
  for (const words of ['Deleted this site.', 'Restored this site.'])
    expect(text).toContain(`<strong>${words}</strong>`);
  const mails = await owner.browser.open(mailChoicesPath);
  expect(mails.text).toContain('A website that accepts them shows it in its settings.');
});

test('the history names a person, and no header makes one', async () => {
  const { browser, call, email, accountId } = await fixture.newSignedIn();
  const page = await browser.open('/account/settings');
  await browser.press(page, 'Change my address', { email: fixture.newAddress() });
  const { items } = (await call('GET', '/v1/account/history')).body;
  expect(items[0]).toMatchObject({ action: 'account.updated', via: { kind: 'person', name: null } });
  const cookie = [...browser.cookies].map((pair) => pair.join('=')).join('; ');
  for (const headers of [
    { cookie },
    { cookie, authorization: '' },
    { cookie, 'x-request-id': accountId, 'sec-fetch-site': 'same-origin' },
    { internal: JSON.stringify({ person: { actor: { accountId } } }), person: accountId },
  ]) {
    const answer = await fixture.anyone('PATCH', '/v1/account', { body: { email }, headers });
    expect([headers, errorOf(answer).code]).toEqual([headers, 'unauthorized']);
  }
});

test('sites of strangers, deleted and unknown sites are one page', async () => {
  const [owner, stranger] = [await fixture.newSignedIn(), await fixture.newSignedIn()];
  const site = await createSite(owner, { title: 'The bakery' });
  expect((await owner.browser.open(`/account/sites/${site.id}`)).text).toContain('The bakery');
  const deleted = await createSite(stranger);
  await stranger.call('POST', `/v1/sites/${deleted.id}/archive`);
  await stranger.call('DELETE', `/v1/sites/${deleted.id}?confirm=true`);
  const pages = [];
  for (const id of [site.id, site.id.replace(/.$/, '0'), 'x', '%00'])
    pages.push(await stranger.browser.open(`/account/sites/${id}`));
  pages.push(await owner.browser.open(`/account/sites/${deleted.id}`));
  const own = await stranger.browser.open(`/account/sites/${deleted.id}/domains`);
  expect(own.status).toBe(404);
  expect(own.text).toMatch(/A site will be deleted for good on \d+ \w+ \d{4}\. Until then, you can restore it/);
  expect(new Set(pages.map(({ status }) => status))).toEqual(new Set([404]));
  expect(new Set(pages.map(({ text }) => text)).size).toBe(1);
  expect(pages[0]?.text).not.toContain('token');
  expect(pages[0]?.text).toContain('<a class="button quiet" href="/account">Your account</a>');
  const { fields } = formsOf(await stranger.browser.open('/account'))[0] ?? {};
  expect((await stranger.browser.go('POST', '/account/address', { ...fields, email: 'x' }, sameOrigin)).status).toBe(
    400,
  );
});
