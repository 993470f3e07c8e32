/** Payout accounts as their owner has them: added by a key or to be connected, named, given another key, removed. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { errorOf, limitsIn } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { answered, createPayoutFixture, newKey, outcome, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

test('an account with its owner’s key is active at once, and shows four characters', async () => {
  const owner = await fixture.newCaller();
  const key = newKey();
  const added = answered(await fixture.add(owner, { name: 'Bakery', secret_key: ` ${key}\n` }));
  expect(added).toEqual({
    id: expect.stringMatching(/^pout_/),
    name: 'Bakery',
    rail: 'own_key',
    key_last_four: key.slice(-4),
    status: 'ready',
    currency: 'EUR',
    waiting_for: [],
    sites: 0,
    created_at: expect.any(String),
    next_action: expect.stringContaining('POST /v1/sites/site_…/payout-account'),
  });
  expect(await fixture.list(owner)).toEqual([added]);
  const { payouts } = answered(await owner.call('GET', '/v1/account'));
  expect(payouts).toEqual({
    enabled: true,
    rails: ['own_key', 'connect'],
    accounts: [{ id: added.id, name: 'Bakery', status: 'ready', currency: 'EUR', waiting_for: [] }],
  });
});

test('an account says what it waits for, and whether its currency is known', async () => {
  const owner = await fixture.newCaller();
  const pending = answered(await fixture.add(owner, { secret_key: newKey('pending') }));
  expect(pending).toMatchObject({
    status: 'pending',
    waiting_for: expect.arrayContaining(['a bank account for payouts']),
  });
  expect(pending.next_action).toContain('dashboard');
  const unnamed = answered(await fixture.add(owner, { secret_key: newKey('nocurrency') }));
  expect(unnamed).toMatchObject({ status: 'ready', currency: null, next_action: expect.stringContaining('currency') });
  const connected = answered(await fixture.add(owner, { rail: 'connect' }));
  expect(connected).toMatchObject({ rail: 'connect', status: 'pending', key_last_four: null, currency: null });
  expect(connected.waiting_for).toEqual(['a connection through its onboarding link']);
  expect(connected.next_action).toContain(`${connected.id}/onboarding`);
});

describe('an invalid key is refused in plain words:', () => {
  test.each([
    ['garbage', 'hello', /not a key/],
    ['nothing', '', /not a key/],
    ['a truncated key', 'rk_test_1', /not a key/],
    ['an unrestricted key', `sk_test_${'a'.repeat(24)}`, /full access/],
    ['a publishable key', `pk_test_${'a'.repeat(24)}`, /publishable/],
    ['a live key on a test installation', `rk_live_${'a'.repeat(24)}`, /accepts only test keys/],
    ['a revoked key', newKey('revoked'), /revoked/],
  ])('%s', async (_what, key, words) => {
    const owner = await fixture.newCaller();
    const error = errorOf(await fixture.add(owner, { secret_key: key }));
    expect(error).toMatchObject({ code: 'invalid_payout_account', retryable: false });
    expect(error.message).toMatch(words);
    expect(JSON.stringify(error)).not.toMatch(/stripe|rk_|sk_|pk_/i);
    expect(await fixture.list(owner)).toEqual([]);
  });
});

test('both a key and a rail, neither, or a wrong type is invalid_payout_account', async () => {
  const owner = await fixture.newCaller();
  for (const body of [
    {},
    { name: 'Empty' },
    { secret_key: newKey(), rail: 'connect' },
    { rail: 'own_key' },
    { rail: 1 },
    { secret_key: 1 },
    { secret_key: 'x'.repeat(501) },
  ]) {
    expect(outcome(await fixture.add(owner, body))).toBe('invalid_payout_account');
  }
  expect(outcome(await fixture.add(owner, { name: '', rail: 'connect' }))).toBe('invalid_name');
  expect(outcome(await fixture.add(owner, { colour: 'red' }))).toBe('invalid_json');
});

test('without the provider, adding a key is a retryable error, and stores nothing', async () => {
  const owner = await fixture.newCaller();
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const told = await fixture.add(owner);
  fixture.stub.knobs.turnAway = 0;
  expect(errorOf(told)).toMatchObject({ code: 'provider_error', retryable: true });
  expect(told.text).not.toMatch(/stripe/i);
  expect(await fixture.list(owner)).toEqual([]);
});

test('an account is renamed, and a repeated call creates one', async () => {
  const owner = await fixture.newCaller();
  const add = () =>
    owner.call('POST', fixture.accounts, { body: { rail: 'connect' }, headers: { 'idempotency-key': 'once' } });
  const [one, two] = [answered(await add()), answered(await add())];
  expect(two.id).toBe(one.id);
  const renamed = answered(await owner.call('PATCH', `${fixture.accounts}/${one.id}`, { body: { name: 'The café' } }));
  expect(renamed).toMatchObject({ id: one.id, name: 'The café' });
  expect(outcome(await owner.call('PATCH', `${fixture.accounts}/${one.id}`, { body: { name: ' ' } }))).toBe(
    'invalid_name',
  );
});

test('only a new key of the same account replaces the old one', async () => {
  const owner = await fixture.newCaller();
  const key = newKey();
  const { id } = answered(await fixture.add(owner, { secret_key: key }));
  const replace = (secret_key: string, of = id) =>
    owner.call('POST', `${fixture.accounts}/${of}/key`, { body: { secret_key } });
  expect(answered(await replace(`${key}_second`))).toMatchObject({ id, key_last_four: 'cond', status: 'ready' });
  expect(errorOf(await replace(newKey()))).toMatchObject({
    code: 'invalid_payout_account',
    message: expect.stringContaining('the same payment provider account'),
  });
  expect(outcome(await replace('hello'))).toBe('invalid_payout_account');
  const connected = answered(await fixture.add(owner, { rail: 'connect' }));
  expect(outcome(await replace(newKey(), connected.id))).toBe('invalid_payout_account');
  expect((await fixture.list(owner)).at(-1)).toMatchObject({ id, key_last_four: 'cond' });
});

test('a removed account is gone with its key, and cannot be used', async () => {
  const owner = await fixture.newCaller();
  const { id } = await fixture.newAccount(owner);
  const gone = answered(await owner.call('DELETE', `${fixture.accounts}/${id}`));
  expect(gone).toMatchObject({ id, status: 'gone', waiting_for: [] });
  expect(answered(await owner.call('DELETE', `${fixture.accounts}/${id}`))).toEqual(gone);
  expect(await fixture.list(owner)).toMatchObject([{ id, status: 'gone' }]);
  expect((await owner.call('GET', '/v1/account')).body.payouts.accounts).toEqual([]);
  expect(await fixture.deps.em().execute('select sealed_key from payout_account where id = ?', [id])).toEqual([
    { sealed_key: null },
  ]);
  const site = await fixture.newSite(owner);
  expect(outcome(await fixture.attach(owner, site.id, id))).toBe('payout_account_gone');
  const replaced = owner.call('POST', `${fixture.accounts}/${id}/key`, { body: { secret_key: newKey() } });
  expect(outcome(await replaced)).toBe('payout_account_gone');
  expect(outcome(await owner.call('POST', `${fixture.accounts}/${id}/onboarding`))).toBe('payout_account_gone');
  const renamed = owner.call('PATCH', `${fixture.accounts}/${id}`, { body: { name: 'Other' } });
  expect(outcome(await renamed)).toBe('payout_account_gone');
});

test('an account has as many payout accounts as its cap, without removed ones', async () => {
  const owner = await fixture.newCaller();
  const limit = limitsIn(fixture.config).payout_accounts;
  const told = await Promise.all(Array.from({ length: limit + 3 }, () => fixture.add(owner, { rail: 'connect' })));
  expect(told.filter(({ status }) => status === 200)).toHaveLength(limit);
  expect(errorOf(told.find(({ status }) => status !== 200) as (typeof told)[number]).code).toBe('plan_limit');
  answered(await owner.call('DELETE', `${fixture.accounts}/${(await fixture.list(owner))[0].id}`));
  answered(await fixture.add(owner, { rail: 'connect' }));
});

test('a key whose replacement got no answer does not replace a later one', async () => {
  const owner = await fixture.newCaller();
  const secret = newKey();
  const { id } = answered(await fixture.add(owner, { secret_key: secret }));
  const replace = (which: string, headers = {}) =>
    owner.call('POST', `${fixture.accounts}/${id}/key`, { body: { secret_key: `${secret}_${which}` }, headers });
  const repeated = () => replace('lost', { 'idempotency-key': 'replaced' });
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await repeated()).status).toBe(500);
  restore();
  expect((await fixture.list(owner))[0].key_last_four).toBe('lost');
  answered(await replace('late'));
  for (let times = 0; times < 2; times++) expect(answered(await repeated()).key_last_four).toBe('late');
  const { items } = answered(await owner.call('GET', '/v1/account/history'));
  expect(items.filter(({ action }: { action: string }) => action === 'payout_account.key_replaced')).toHaveLength(2);
  expect(fixture.takeUnexpected()).toHaveLength(1);
});
