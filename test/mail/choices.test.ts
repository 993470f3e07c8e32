/** The page on which an owner chooses their e-mails. */
import { afterAll, expect, test } from 'vitest';
import { wantsMail } from '#db/accounts/mail-choices.ts';
import { mailChoiceNames, mailChoices } from '#rules/mail-choices.ts';
import { recordedBy } from '#test/history/recording.ts';
import { formsOf, newBrowser, type Shown } from '#test/people/browser.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

const path = '/account/mails';
const ticked = ({ text }: Shown) => [...text.matchAll(/value="(\w+)" checked/g)].map(([, name]) => name);
const usual = mailChoiceNames.filter((name) => mailChoices[name].isOn);
const wanted = async (accountId: string) => {
  const answers = await Promise.all(
    mailChoiceNames.map(async (name) => ((await wantsMail(fixture.deps.em(), accountId, name)) ? [name] : [])),
  );
  return answers.flat();
};
/** The form of the page, with these boxes ticked. */
const sent = (page: Shown, names: readonly string[]) => {
  const fields = new URLSearchParams(formsOf(page)[0]?.fields);
  for (const name of names) fields.append('mail', name);
  return fields as unknown as Record<string, string>;
};
const ours = { 'sec-fetch-site': 'same-origin' };

test('an owner who has not chosen gets all e-mails but the summary', async () => {
  const owner = await fixture.newSignedIn();
  expect((await owner.browser.open('/account/settings')).text).toContain(`href="${path}"`);
  const page = await owner.browser.open(path);
  expect([page.status, ticked(page)]).toEqual([200, usual]);
  for (const { says } of Object.values(mailChoices)) expect(page.text).toContain(says);
  expect(page.text).toContain(owner.email);
  expect(page.text).toContain('security of your account are always sent');
  expect(await wanted(owner.accountId)).toEqual(['publishes', 'domains', 'agents', 'comments', 'payments']);
});

test('a choice holds for its owner alone and is recorded once', async () => {
  const [owner, other] = [await fixture.newSignedIn(), await fixture.newSignedIn()];
  const page = await owner.browser.open(path);
  const choose = () => owner.browser.go('POST', path, sent(page, ['agents', 'summary', 'unknown']), ours);
  const recorded = await recordedBy(fixture.deps, async () => {
    const saved = await choose();
    expect([saved.status, ticked(saved)]).toEqual([200, ['agents', 'summary']]);
    expect(saved.text).toContain('Your choice is saved.');
    await choose();
  });
  expect(recorded).toMatchObject([{ action: 'account.mails_chosen', via_kind: 'person', via_name: null }]);
  expect(ticked(await owner.browser.open(path))).toEqual(['agents', 'summary']);
  expect(await wanted(owner.accountId)).toEqual(['agents', 'summary']);
  expect(await wanted(other.accountId)).toEqual(usual);
  const { items } = (await owner.call('GET', '/v1/account/history')).body;
  expect(items[0].detail).toEqual({ on: ['summary'], off: ['publishes', 'domains', 'comments', 'payments'] });
});

test('all e-mails can be switched off, and on again', async () => {
  const owner = await fixture.newSignedIn();
  const page = await owner.browser.press(await owner.browser.open(path), 'Save');
  expect([ticked(page), await wanted(owner.accountId)]).toEqual([[], []]);
  expect(ticked(await owner.browser.go('POST', path, sent(page, mailChoiceNames), ours))).toEqual(mailChoiceNames);
});

test('only the owner’s own browser chooses', async () => {
  const owner = await fixture.newSignedIn();
  const page = await owner.browser.open(path);
  const foreign = { 'sec-fetch-site': 'cross-site', origin: 'https://evil.example' };
  expect((await owner.browser.go('POST', path, sent(page, []), foreign)).status).toBe(400);
  expect((await owner.browser.go('POST', path, {}, ours)).status).toBe(400);
  expect((await newBrowser(fixture.url).open(path)).url).toBe('/signin');
  // An agent could otherwise switch off the e-mails that tell its owner about it.
  expect((await owner.call('POST', path, { body: {} })).status).toBe(303);
  expect(await wanted(owner.accountId)).toEqual(usual);
});

test('an owner who has to sign in returns to the page', async () => {
  const { email } = await fixture.newOwner();
  const browser = newBrowser(fixture.url);
  expect((await fixture.signIn(browser, email, await browser.open(path))).url).toBe(path);
});
