import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { endPlanGrant, grantPlan } from '#api/billing/grants.ts';
import { AppError } from '#runtime/errors.ts';
import { type Caller, createFixture, errorOf } from '#test/api/fixture.ts';
import { type BillingFixture, createBillingFixture, dayMs } from './fixture.ts';

let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await createBillingFixture();
});
afterAll(() => fixture?.close());

const inDays = (days: number) => new Date(fixture.clock.now().getTime() + days * dayMs);
const grant = (caller: Caller, plan: string, days = 30) =>
  grantPlan(fixture.deps.em(), fixture.deps, { accountId: caller.accountId, plan, endsAt: inDays(days) });
const end = (caller: Caller) => endPlanGrant(fixture.deps.em(), fixture.deps, caller.accountId);
const codeOf = (act: Promise<unknown>) =>
  act.then(
    () => 'done',
    (error) => (error instanceof AppError ? error.code : error),
  );

test('a granted plan is active until its exact date', async () => {
  const own = await createBillingFixture({ worker: false });
  try {
    const owner = await own.newCaller();
    const endsAt = new Date(own.clock.now().getTime() + 30 * dayMs);
    await grantPlan(own.deps.em(), own.deps, { accountId: owner.accountId, plan: 'shop', endsAt });
    expect(await own.read(owner)).toMatchObject({
      plan: 'shop',
      status: 'granted',
      ends_at: endsAt.toISOString(),
      limits: { sites: 10 },
    });
    own.skip(endsAt.getTime() - own.clock.now().getTime() - 30_000);
    expect((await own.read(owner)).plan).toBe('shop');
    own.skip(30_001);
    expect(await own.read(owner)).toMatchObject({ plan: 'free', status: 'free', ends_at: null });
  } finally {
    await own.close();
  }
});

test('a second grant replaces the first, and an ended one stops at once', async () => {
  const owner = await fixture.newCaller();
  await grant(owner, 'studio');
  await grant(owner, 'hobby');
  expect(await fixture.read(owner)).toMatchObject({ plan: 'hobby', status: 'granted' });
  await end(owner);
  expect(await fixture.read(owner)).toMatchObject({ plan: 'free', status: 'free' });
  expect(await codeOf(end(owner))).toBe('not_found');
});

test('ten concurrent grants leave one grant', async () => {
  const owner = await fixture.newCaller();
  await Promise.all(Array.from({ length: 10 }, () => grant(owner, 'hobby')));
  await end(owner);
  expect((await fixture.read(owner)).status).toBe('free');
});

test('a paid plan is not_a_grant, and a grant beside it is paid_subscription_active', async () => {
  const owner = await fixture.newCaller();
  await fixture.buy(owner, 'hobby');
  expect(await codeOf(end(owner))).toBe('not_a_grant');
  expect(await codeOf(grant(owner, 'studio'))).toBe('paid_subscription_active');
  (await fixture.atProvider(owner)).act('end');
  await fixture.until(
    () => fixture.read(owner),
    ({ status }) => status === 'free',
  );
  expect(await codeOf(grant(owner, 'studio'))).toBe('done');
});

test('an account with a grant may buy another plan, and has the larger one', async () => {
  const owner = await fixture.newCaller();
  await grant(owner, 'hobby');
  expect(errorOf(await fixture.checkout(owner, 'hobby')).code).toBe('already_subscribed');
  await fixture.buy(owner, 'studio');
  const other = await fixture.newCaller();
  await grant(other, 'studio');
  const page = await fixture.checkout(other, 'hobby');
  await fixture.press(page, 'pay');
  await fixture.until(
    () => fixture.rows(other),
    ([row]) => row?.status === 'active',
  );
  expect(await fixture.read(other)).toMatchObject({ plan: 'studio', status: 'granted' });
});

test('only plans of the catalog are granted, to existing accounts, until a future date', async () => {
  const owner = await fixture.newCaller();
  expect(await codeOf(grant(owner, 'gold'))).toBe('invalid_plan');
  expect(await codeOf(grant(owner, 'free'))).toBe('invalid_plan');
  expect(await codeOf(grant(owner, 'hobby', -1))).toBe('invalid_expiry');
  expect(await codeOf(grant({ ...owner, accountId: 'acct_of_nobody' }, 'hobby'))).toBe('not_found');
  const off = await createFixture();
  try {
    const args = { accountId: owner.accountId, plan: 'hobby', endsAt: inDays(1) };
    expect(await codeOf(grantPlan(off.deps.em(), off.deps, args))).toBe('billing_disabled');
    expect(await codeOf(endPlanGrant(off.deps.em(), off.deps, owner.accountId))).toBe('billing_disabled');
  } finally {
    await off.close();
  }
});

test('an operator grants and ends plans by two commands, and sees the obstacles', {
  timeout: 60_000,
}, async () => {
  const owner = await fixture.newCaller();
  const root = join(import.meta.dirname, '../..');
  const run = async (...args: string[]) => {
    const env = {
      ...process.env,
      DATABASE_URL: fixture.database.url,
      FRONTAGE_SECRET: 'a secret of the tests, long enough',
      FRONTAGE_BILLING_KEY: 'sk_test_platform0000',
    };
    const command = [join(root, 'operator/admin.ts'), ...args, '--account', owner.accountId];
    return await promisify(execFile)(process.execPath, command, { env }).then(
      ({ stdout }) => JSON.parse(stdout),
      (error: { stderr: string }) => error.stderr,
    );
  };
  const until = inDays(10).toISOString().slice(0, 10);
  const granted = await run('plan', 'grant', '--plan', 'studio', '--until', until);
  expect(granted).toMatchObject({ account_id: owner.accountId, plan: 'studio' });
  expect(await fixture.read(owner)).toMatchObject({ plan: 'studio', status: 'granted' });
  expect(await run('plan', 'end')).toMatchObject({ account_id: owner.accountId, plan: 'studio' });
  expect((await fixture.read(owner)).plan).toBe('free');
  await fixture.buy(owner, 'hobby');
  expect(await run('plan', 'end')).toContain('not_a_grant');
  expect(await run('plan', 'grant', '--plan', 'studio', '--until', until)).toContain('paid_subscription_active');
});
