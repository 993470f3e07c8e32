/** What calls about money record: for the owner alone. */
import { expect, test } from 'vitest';
import { createBillingFixture } from '#test/billing/fixture.ts';
import { type PayingFixture, usePayingFixture } from '#test/payments/fixture.ts';
import { answered, newKey, payouts } from '#test/payouts/fixture.ts';
import { expectRecorded } from './recording.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

test('payout accounts, offers and agreements are recorded for the owner alone', async () => {
  const { deps } = fixture;
  const pay = payouts(fixture);
  const [owner, payee] = [await fixture.newCaller(), await fixture.newCaller()];
  const [site, second, third] = [await pay.newSite(owner), await pay.newSite(owner), await pay.newSite(owner)];
  const secret = newKey();
  const account = answered(await pay.add(owner, { secret_key: secret }));
  // Once for each side.
  const offered = ['payout_offer.created', 'payout_offer.created'];
  const theirs = await pay.newAccount(payee);
  const member = await pay.newCollaborator(owner, site.id);
  const key = { body: { secret_key: `${secret}_second` } };
  const replaced = await expectRecorded(deps, 'payout_account.key_replaced', () =>
    owner.call('POST', `${pay.accounts}/${account.id}/key`, key),
  );
  expect(replaced.body.id).toBe(account.id);
  await expectRecorded(deps, 'payout_agreement.started', () => pay.attach(owner, site.id, account.id));
  await expectRecorded(deps, offered, () => pay.offerFromSite(owner, second.id, theirs.id));
  await expectRecorded(deps, offered, () => pay.offerFromAccount(payee, theirs.id, pay.hostOf(third)));
  const history = async (caller: typeof owner) =>
    (await caller.call('GET', `/v1/sites/${site.id}/history`)).body.items.map(
      ({ action }: { action: string }) => action,
    );
  expect(await history(owner)).toContain('payout_agreement.started');
  expect(await history(member)).toEqual([]);
});

test('a payment and its refund are recorded for the owner alone', async () => {
  const { deps } = fixture;
  const { owner, site } = await fixture.newPaidSite();
  const path = `/v1/sites/${site.id}/payments`;
  const member = await payouts(fixture).newCollaborator(owner, site.id);
  const body = { amount: 1250, currency: 'EUR' };
  const { body: payment } = await expectRecorded(deps, 'payment.created', () => owner.call('POST', path, { body }));
  await fixture.press((await fixture.openLink(payment.pay_url)).page);
  await expect.poll(async () => (await owner.call('GET', `/v1/payments/${payment.id}`)).body.status).toBe('paid');
  await expectRecorded(deps, 'payment.refunded', () => owner.call('POST', `/v1/payments/${payment.id}/refund`));
  const history = await member.call('GET', `/v1/sites/${site.id}/history`);
  expect(JSON.stringify(answered(history))).not.toContain('payment');
});

test('the checkout of a plan is recorded', async () => {
  await using billing = await disposable();
  const owner = await billing.newCaller();
  await expectRecorded(billing.deps, 'plan.checkout_started', () => billing.checkout(owner, 'studio'));
});

async function disposable() {
  const billing = await createBillingFixture({ worker: false });
  return { ...billing, [Symbol.asyncDispose]: () => billing.close() };
}
