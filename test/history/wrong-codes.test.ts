/** Five wrong codes are one entry in the history of the account, whatever they ended. */
import { afterAll, expect, test } from 'vitest';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { recordedBy } from './recording.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const { deps } = fixture;

/** Types a wrong code until the page says that it has ended. Returns the statuses. */
async function tryWrong(guess: () => Promise<{ status: number }>): Promise<number[]> {
  const statuses = [];
  for (let tries = 7; tries > 0; tries--) statuses.push((await guess()).status);
  return statuses;
}

const once = (action: string) => [{ action, via_kind: 'platform', via_name: null, owners_only: false, detail: {} }];

test('five wrong codes of an access request are one entry', async () => {
  const owner = await fixture.newSignedIn();
  const { body: asked } = await fixture.ask(owner.email);
  const browser = fixture.browser();
  const page = await browser.open(await fixture.linkTo(owner.email, 'access-request'));
  const code = asked.user_code === 'BBBBBBBB' ? 'CCCCCCCC' : 'BBBBBBBB';
  const recorded = await recordedBy(deps, async () => {
    const statuses = await tryWrong(() => browser.press(page, 'Give access', { code }));
    expect(statuses).toEqual([400, 400, 400, 400, 410, 410, 410]);
  });
  expect(recorded).toEqual(once('account.access_request_failed'));
  expect((await owner.call('GET', '/v1/account/history')).body.items[0]).toMatchObject({
    action: 'account.access_request_failed',
    account: { id: owner.accountId },
    subject: { kind: 'account', id: owner.accountId },
  });
});

test('five wrong codes of a sign-in are one entry', async () => {
  const owner = await fixture.newOwner();
  const browser = fixture.browser();
  const waiting = await browser.press(await browser.open('/signin'), 'Send me a link', { email: owner.email });
  const phone = fixture.browser();
  const shown = await phone.press(await phone.open(await fixture.linkTo(owner.email, 'signin-link')), 'Show a code');
  const right = /<p class="code">([0-9]{6})</.exec(shown.text)?.[1];
  const recorded = await recordedBy(deps, async () => {
    await tryWrong(() => browser.press(waiting, 'Sign in', { code: right === '000000' ? '000001' : '000000' }));
  });
  expect(recorded).toEqual(once('account.signin_failed'));
});

test('five wrong codes of an address without an account are no entry', async () => {
  const email = fixture.newAddress();
  await fixture.ask(email);
  const browser = fixture.browser();
  const page = await browser.open(await fixture.linkTo(email, 'access-request'));
  const recorded = await recordedBy(deps, async () => {
    await tryWrong(() => browser.press(page, 'Give access', { code: 'BBBBBBBB' }));
  });
  expect(recorded).toEqual([]);
});

test('five wrong codes of a deletion are one entry', async () => {
  const { browser } = await fixture.newSignedIn();
  const page = await browser.press(await browser.open('/account/delete'), 'E-mail me the code');
  const recorded = await recordedBy(deps, async () => {
    await tryWrong(() => browser.press(page, 'Delete my account', { code: 'BBBBBBBB' }));
  });
  expect(recorded).toEqual(once('account.deletion_failed'));
});
