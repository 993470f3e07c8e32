/** The provider's status of an account is queried on reads, by schedule, and on messages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payoutActivities } from '#activities/payouts.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { payoutAccountChanged, refreshPayoutAccount } from '#db/payouts/provider-status.ts';
import { callWith } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { completeAccount } from '#tools/local/payments/accounts.ts';
import { answered, createPayoutFixture, newKey, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

const objects = () => fixture.stub.stub.objects;
const row = async (id: string) => await fixture.deps.em().findOneOrFail(PayoutAccount, { id });
/** The owner completes at the provider what the account lacked. */
async function completed(id: string): Promise<string> {
  const name = must((await row(id)).providerAccount);
  completeAccount(fixture.stub.stub, name);
  return name;
}
async function newPending() {
  const owner = await fixture.newCaller();
  const { id } = answered(await fixture.add(owner, { secret_key: newKey('pending') }));
  return { owner, id };
}

test('listing a waiting account queries it at most every five seconds', async () => {
  const { owner, id } = await newPending();
  await completed(id);
  expect((await fixture.list(owner))[0].status).toBe('pending');
  fixture.skip(6_000);
  expect((await fixture.list(owner))[0]).toMatchObject({ id, status: 'ready', waiting_for: [] });
});

test('without the provider, the list contains the last known status', async () => {
  const { owner, id } = await newPending();
  fixture.skip(6_000);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  expect((await fixture.list(owner))[0]).toMatchObject({ id, status: 'pending' });
  fixture.stub.knobs.turnAway = 0;
});

test('the schedule queries waiting accounts, and others daily', async () => {
  const { askForPayoutAccounts } = payoutActivities(fixture.deps);
  const { id } = await newPending();
  const owner = await fixture.newCaller();
  const ready = await fixture.newAccount(owner);
  await completed(id);
  fixture.skip(10 * 60_000 + 1000);
  const { unanswered } = await askForPayoutAccounts();
  expect(unanswered).toBe(0);
  expect(await row(id)).toMatchObject({ status: 'ready', currency: 'EUR' });
  const name = must((await row(ready.id)).providerAccount);
  objects().set(name, { ...(objects().get(name) as object), default_currency: 'usd' } as never);
  await askForPayoutAccounts();
  expect((await row(ready.id)).currency).toBe('EUR');
  fixture.skip(24 * 3600_000);
  await askForPayoutAccounts();
  expect((await row(ready.id)).currency).toBe('USD');
});

test('revoked keys and disconnected accounts are pending with the remedy', async () => {
  const owner = await fixture.newCaller();
  const { id } = await fixture.newAccount(owner);
  const broken = {
    ...fixture.deps,
    payments: { ...must(fixture.deps.payments), readAccount: () => Promise.reject(gone()) },
  };
  await refreshPayoutAccount(broken, id);
  expect(await row(id)).toMatchObject({ status: 'pending', waitingFor: [expect.stringContaining('a new key')] });
  await refreshPayoutAccount(fixture.deps, id);
  expect(await row(id)).toMatchObject({ status: 'ready', waitingFor: [] });
});

test('a connected account’s message updates its row', async () => {
  const owner = await fixture.newCaller();
  const { id } = answered(await fixture.add(owner, { rail: 'connect' }));
  const { url } = answered(await owner.call('POST', `${fixture.accounts}/${id}/onboarding`));
  await callWith(fixture.url)('GET', new URL(url).pathname);
  // The stand-in sends it, signed, once the owner has completed the account.
  const name = await completed(id);
  await fixture.stub.settled();
  expect(await row(id)).toMatchObject({ status: 'ready', currency: 'EUR' });
  expect(await payoutAccountChanged(fixture.deps, 'acct_of_nobody')).toBe(true);
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  expect(await payoutAccountChanged(fixture.deps, name)).toBe(false);
  fixture.stub.knobs.turnAway = 0;
});

const must = <T>(value: T | null | undefined): T => {
  if (value === undefined || value === null) throw new Error('it is there');
  return value;
};
const gone = () => Object.assign(new Error('gone'), { reason: 'invalid_credentials' });
