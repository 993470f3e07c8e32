/** What the provider says of an account is asked for again: when it is read, by schedule, and when a message says that it moved. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { payoutActivities } from '#activities/payouts.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { payoutAccountChanged, refreshPayoutAccount } from '#db/payouts/provider-status.ts';
import { callWith } from '#test/api/world.ts';
import { completeAccount } from '#tools/local/payments/accounts.ts';
import { answered, createPayoutWorld, newKey, type PayoutWorld } from './world.ts';

let world: PayoutWorld;
beforeAll(async () => {
  world = await createPayoutWorld();
});
afterAll(() => world?.close());

const objects = () => world.stub.stub.objects;
const row = async (id: string) => await world.deps.em().findOneOrFail(PayoutAccount, { id });
/** The owner completes at the provider what the account lacked. */
async function completed(id: string): Promise<string> {
  const name = must((await row(id)).providerAccount);
  completeAccount(world.stub.stub, name);
  return name;
}
async function newPending() {
  const owner = await world.newCaller();
  const { id } = answered(await world.add(owner, { secret_key: newKey('pending') }));
  return { owner, id };
}

test('an account that waits is asked for again when its owner reads the list, at most each five seconds', async () => {
  const { owner, id } = await newPending();
  await completed(id);
  expect((await world.list(owner))[0].status).toBe('pending');
  world.skip(6_000);
  expect((await world.list(owner))[0]).toMatchObject({ id, status: 'ready', waiting_for: [] });
});

test('where the provider does not answer, the list says what is known', async () => {
  const { owner, id } = await newPending();
  world.skip(6_000);
  world.stub.knobs.turnAway = 1;
  expect((await world.list(owner))[0]).toMatchObject({ id, status: 'pending' });
  world.stub.knobs.turnAway = 0;
});

test('the schedule asks for those that wait, and daily for the others', async () => {
  const { askForPayoutAccounts } = payoutActivities(world.deps);
  const { id } = await newPending();
  const owner = await world.newCaller();
  const ready = await world.newAccount(owner);
  await completed(id);
  world.skip(10 * 60_000 + 1000);
  const { unanswered } = await askForPayoutAccounts();
  expect(unanswered).toBe(0);
  expect(await row(id)).toMatchObject({ status: 'ready', currency: 'EUR' });
  const name = must((await row(ready.id)).providerAccount);
  objects().set(name, { ...(objects().get(name) as object), default_currency: 'usd' } as never);
  await askForPayoutAccounts();
  expect((await row(ready.id)).currency).toBe('EUR');
  world.skip(24 * 3600_000);
  await askForPayoutAccounts();
  expect((await row(ready.id)).currency).toBe('USD');
});

test('a key that its owner revoked, and a connected account that was cut off, are pending for what mends them', async () => {
  const owner = await world.newCaller();
  const { id } = await world.newAccount(owner);
  const broken = {
    ...world.deps,
    payments: { ...must(world.deps.payments), readAccount: () => Promise.reject(gone()) },
  };
  await refreshPayoutAccount(broken, id);
  expect(await row(id)).toMatchObject({ status: 'pending', waitingFor: [expect.stringContaining('a new key')] });
  await refreshPayoutAccount(world.deps, id);
  expect(await row(id)).toMatchObject({ status: 'ready', waitingFor: [] });
});

test('a message that a connected account moved brings its row up to date', async () => {
  const owner = await world.newCaller();
  const { id } = answered(await world.add(owner, { rail: 'connect' }));
  const { url } = answered(await owner.call('POST', `${world.accounts}/${id}/onboarding`));
  await callWith(world.url)('GET', new URL(url).pathname);
  // The stand-in sends it, signed, once the owner has completed the account.
  const name = await completed(id);
  await world.stub.settled();
  expect(await row(id)).toMatchObject({ status: 'ready', currency: 'EUR' });
  expect(await payoutAccountChanged(world.deps, 'acct_of_nobody')).toBe(true);
  world.stub.knobs.turnAway = 1;
  expect(await payoutAccountChanged(world.deps, name)).toBe(false);
  world.stub.knobs.turnAway = 0;
});

const must = <T>(value: T | null | undefined): T => {
  if (value === undefined || value === null) throw new Error('it is there');
  return value;
};
const gone = () => Object.assign(new Error('gone'), { reason: 'invalid_credentials' });
