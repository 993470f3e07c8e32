/** Offers and payout accounts on the owner's page. */
import { afterAll, expect, test } from 'vitest';
import { formsOf } from '#test/people/browser.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { answered, payouts } from './fixture.ts';

const fixture = await createPeopleFixture({
  FRONTAGE_PAYOUT_RAILS: 'connect',
  FRONTAGE_PAYMENTS_KEY: 'sk_test_platform0000',
  FRONTAGE_PAYMENTS_URL: 'http://127.0.0.1:9',
});
afterAll(() => fixture.close());
const act = payouts(fixture);

async function newOffer(name: string) {
  const [owner, payee] = [await fixture.newSignedIn(), await fixture.newCaller()];
  const site = await act.newSite(owner);
  const { id } = answered(await act.add(payee, { name, rail: 'connect' }));
  const offer = answered(await act.offerFromAccount(payee, id, act.hostOf(site)));
  return { owner, payee, site, offer, account: id };
}

test('an owner sees an offer’s origin, and accepts it with a button', async () => {
  const { owner, payee, site, offer } = await newOffer('The <bakery>');
  expect((await owner.browser.open('/account')).text).toContain('href="/account/payouts">Answer<');
  const page = await owner.browser.open('/account/payouts');
  for (const part of ['Payout offers', act.hostOf(site), 'The &#60;bakery&#62;', 'Accept only if you know them']) {
    expect(page.text).toContain(part);
  }
  const after = await owner.browser.press(page, 'Accept');
  expect(after.text).not.toContain('Payout offers');
  expect((await act.read(payee, offer.id)).body.status).toBe('accepted');
  expect(answered(await act.agreement(owner, site.id)).status).toBe('active');
});

test('an owner declines an offer by its own form alone', async () => {
  const { owner, payee, offer } = await newOffer('Bakery');
  const page = await owner.browser.open('/account/payouts');
  const action = formsOf(page).find(({ inside }) => inside.includes('>Accept<'))?.action ?? '';
  expect(action).toContain(offer.id);
  expect((await owner.browser.go('POST', action, { form: 'x' })).status).toBe(400);
  expect((await act.read(payee, offer.id)).body.status).toBe('open');
  const asked = await owner.browser.open(`/account/payout-offers/${offer.id}/decline`);
  expect((await act.read(payee, offer.id)).body.status).toBe('open');
  const after = await owner.browser.press(asked, 'Decline the offer');
  expect(after.text).not.toContain('Payout offers');
  expect((await act.read(payee, offer.id)).body.status).toBe('withdrawn');
});

test('an owner sees their payout accounts, what each waits for, and its sites', async () => {
  const owner = await fixture.newSignedIn();
  expect((await owner.browser.open('/account/payouts')).text).toContain('You have no payout account yet.');
  const { id } = answered(await act.add(owner, { name: 'My bank', rail: 'connect' }));
  const site = await act.newSite(owner);
  answered(await act.attach(owner, site.id, id));
  const { text } = await owner.browser.open('/account/payouts');
  for (const part of ['<h2>Payout accounts</h2>', 'My bank', 'Waiting for: a connection', act.hostOf(site)]) {
    expect(text).toContain(part);
  }
});
