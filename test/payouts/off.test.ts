/** A platform that takes no money, or not in every way, or cannot seal a key. */
import { afterEach, expect, test } from 'vitest';
import { createFixture, errorOf, type Fixture } from '#test/api/fixture.ts';

let fixture: Fixture | undefined;
afterEach(() => fixture?.close());

const calls = [
  ['POST', '/v1/account/payout-accounts'],
  ['GET', '/v1/account/payout-accounts'],
  ['POST', '/v1/account/payout-accounts/x/onboarding'],
  ['POST', '/v1/account/payout-accounts/x/offers'],
  ['GET', '/v1/payout-offers'],
  ['POST', '/v1/sites/x/payout-account'],
  ['DELETE', '/v1/sites/x/payout-account'],
] as const;
const bothRails = { FRONTAGE_PAYOUT_RAILS: 'own_key,connect', FRONTAGE_PAYMENTS_KEY: 'sk_test_platform0000' };

async function codes(env: Record<string, string>): Promise<(string | number)[]> {
  fixture = await createFixture(env);
  const { call } = await fixture.newCaller();
  const told = [];
  for (const [method, path] of calls) {
    const answer = await call(method, path, method === 'POST' ? { raw: '{' } : {});
    told.push(`${answer.status} ${errorOf(answer).code}`);
  }
  return told;
}

test('without payouts the calls are payouts_disabled before validation, and the account lists nothing', async () => {
  expect(await codes({})).toEqual(calls.map(() => '501 payouts_disabled'));
  const { body } = await (await (fixture as Fixture).newCaller()).call('GET', '/v1/account');
  expect(body.payouts).toEqual({ enabled: false, rails: [], accounts: [] });
  expect(body).toMatchObject({ offers_to_answer: 0, capabilities: { payouts: false } });
});

test('without a sealing key no keys are accepted: payouts_unavailable', async () => {
  expect(await codes({ ...bothRails, FRONTAGE_SEALING_KEYS: 'none' })).toEqual(
    calls.map(() => '503 payouts_unavailable'),
  );
});

test('a rail that is off is payout_rail_unavailable', async () => {
  fixture = await createFixture({ ...bothRails, FRONTAGE_PAYOUT_RAILS: 'connect', FRONTAGE_SEALING_KEYS: 'none' });
  const { call } = await fixture.newCaller();
  const own = await call('POST', '/v1/account/payout-accounts', { body: { secret_key: 'rk_test_00000000' } });
  expect([own.status, errorOf(own).code]).toEqual([501, 'payout_rail_unavailable']);
  const connected = await call('POST', '/v1/account/payout-accounts', { body: { rail: 'connect' } });
  expect(connected.status).toBe(200);
  await fixture.close();
  fixture = await createFixture({ FRONTAGE_PAYOUT_RAILS: 'own_key' });
  const caller = await fixture.newCaller();
  const other = await caller.call('POST', '/v1/account/payout-accounts', { body: { rail: 'connect' } });
  expect([other.status, errorOf(other).code]).toEqual([501, 'payout_rail_unavailable']);
});
