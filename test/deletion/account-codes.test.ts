/** The code that deletes an account: how it ends, who may send it, and what holds the account. */
import { afterAll, expect, test, vi } from 'vitest';
import { Account } from '#db/accounts/account.ts';
import { sweepDeletionCodes } from '#db/accounts/deletion.ts';
import { createSite } from '#test/api/fixture.ts';
import { createPeopleFixture, type PeopleFixture } from '#test/people/fixture.ts';

vi.setConfig({ testTimeout: 60_000 });
const dayMs = 24 * 3600_000;
const fixture = await createPeopleFixture({ FRONTAGE_RATE_SCALE: '1' });
afterAll(() => fixture.close());

type Owner = Awaited<ReturnType<PeopleFixture['newSignedIn']>>;
const em = () => fixture.deps.em();
const accountOf = (id: string) => em().findOneOrFail(Account, { id });

async function askForCode({ browser, email }: Pick<Owner, 'browser' | 'email'>) {
  const page = await browser.press(await browser.open('/account/delete'), 'E-mail me the code');
  const code = (await fixture.lettersTo(email)).find(({ kind }) => kind === 'account-deletion')?.code ?? '';
  return { page, code };
}

test('five wrong codes end a code, and other origins are refused', async () => {
  const owner = await fixture.newSignedIn();
  const { page, code } = await askForCode(owner);
  const forged = await owner.browser.go(
    'POST',
    '/account/delete/confirm',
    { code },
    { 'sec-fetch-site': 'cross-site' },
  );
  expect([forged.status, forged.text]).toEqual([400, expect.stringContaining('Please open the page again')]);
  expect((await owner.browser.go('POST', '/account/delete/confirm', { code })).status).toBe(400);
  // A token is no session: it is sent to sign in.
  expect((await owner.call('POST', '/account/delete/confirm', { body: { code } })).status).toBe(303);
  for (let left = 4; left >= 0; left--) {
    const shown = await owner.browser.press(page, 'Delete my account', { code: 'BBBBBBBB' });
    expect([shown.status, shown.text]).toEqual([
      400,
      expect.stringMatching(left > 0 ? `${left} attempt` : 'last attempt'),
    ]);
  }
  const late = await owner.browser.press(page, 'Delete my account', { code });
  expect(late.text).toContain('This code has expired');
  const second = await askForCode(owner);
  fixture.skip(16 * 60_000);
  expect((await owner.browser.press(second.page, 'Delete my account', { code: second.code })).text).toContain(
    'expired',
  );
  expect((await accountOf(owner.accountId)).deleteAt).toBeNull();
  expect((await owner.call('GET', '/v1/account')).status).toBe(200);
  fixture.skip(3600_000);
  expect(await sweepDeletionCodes(em(), fixture.clock.now())).toBeGreaterThanOrEqual(2);
});

test('a newer code replaces an older one, and codes are limited', async () => {
  const owner = await fixture.newSignedIn();
  const first = await askForCode(owner);
  await askForCode(owner);
  expect((await owner.browser.press(first.page, 'Delete my account', { code: first.code })).status).toBe(400);
  const pages = [];
  for (let asked = 0; asked < 4; asked++) pages.push((await askForCode(owner)).page.status);
  expect([pages[0], pages.at(-1)]).toEqual([200, 429]);
});

test('a change of address and a blocked site hold the account', async () => {
  const owner = await fixture.newSignedIn();
  const next = fixture.newAddress();
  expect((await owner.call('PATCH', '/v1/account', { body: { email: next } })).status).toBe(200);
  await fixture.confirmChange(owner.email, next);
  const browser = fixture.browser();
  await fixture.signIn(browser, next);
  const held = await askForCode({ browser, email: next });
  expect([held.page.status, held.page.text]).toEqual([409, expect.stringContaining('can undo that until')]);
  fixture.skip(4 * dayMs);
  const free = await askForCode({ browser, email: next });
  const site = await createSite(owner);
  await em().execute(`update site set blocked_at = ?, block_reason = 'Phishing' where id = ?`, [
    fixture.clock.now(),
    site.id,
  ]);
  const refused = await browser.press(free.page, 'Delete my account', { code: free.code });
  expect([refused.status, refused.text]).toEqual([409, expect.stringContaining('blocked by the operator')]);
  expect((await accountOf(owner.accountId)).deleteAt).toBeNull();
});
