import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { querySubscription } from '#db/billing/provider-queries.ts';
import { type Caller, createFixture, errorOf } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { type BillingFixture, createBillingFixture, dayMs } from './fixture.ts';

describe('a plan', () => {
  let fixture: BillingFixture;
  beforeAll(async () => {
    fixture = await createBillingFixture();
  });
  afterAll(() => fixture?.close());
  const refusal = async (call: Promise<Awaited<ReturnType<Caller['call']>>>) => {
    const answer = await call;
    return [answer.status, errorOf(answer).code];
  };

  test('is read with its contents, its caps, and every plan of the catalog', async () => {
    const owner = await fixture.newCaller();
    const billing = await fixture.read(owner);
    expect(billing).toMatchObject({ plan: 'free', status: 'free', ends_at: null, checkout: null });
    expect(billing.includes.length).toBeGreaterThan(0);
    expect(billing.limits).toMatchObject({ sites: 3 });
    expect(billing.plans.map((plan: { name: string; sellable: boolean }) => [plan.name, plan.sellable])).toEqual([
      ['free', false],
      ['hobby', true],
      ['shop', false],
      ['studio', true],
    ]);
    const account = (await owner.call('GET', '/v1/account')).body;
    expect(account.billing).toEqual({ enabled: true, plan: 'free', status: 'free' });
    expect(account.limits.sites).toEqual({ value: 3, used: 0 });
    expect(account.capabilities.billing).toBe(true);
  });

  test('is bought on the provider’s page, and active once it is paid', async () => {
    const owner = await fixture.newCaller();
    const page = await fixture.checkout(owner, 'hobby');
    expect(page.body).toMatchObject({
      plan: 'hobby',
      status: 'open',
      next_action: expect.stringContaining('/v1/billing'),
    });
    expect(page.body.url.startsWith(fixture.provider.url)).toBe(true);
    expect((await fixture.read(owner)).checkout).toMatchObject({ plan: 'hobby' });
    expect(await (await fetch(page.body.url)).text()).toContain('€9.00');
    await fixture.press(page, 'decline');
    expect((await fixture.read(owner)).plan).toBe('free');
    await fixture.press(page, 'pay');
    await fixture.until(
      () => fixture.read(owner),
      ({ plan, status, checkout }) => plan === 'hobby' && status === 'active' && checkout === null,
    );
    const account = (await owner.call('GET', '/v1/account')).body;
    expect(account.billing).toEqual({ enabled: true, plan: 'hobby', status: 'active' });
    expect(account.limits.sites.value).toBe(10);
  });

  test('has one checkout page: a repeated request returns it, another plan closes it', async () => {
    const owner = await fixture.newCaller();
    const pages = await Promise.all(Array.from({ length: 8 }, () => fixture.checkout(owner, 'hobby')));
    expect(new Set(pages.map(({ status, body }) => `${status} ${body.url}`)).size).toBe(1);
    const other = await fixture.checkout(owner, 'studio');
    expect(other.body.url).not.toBe(pages[0]?.body.url);
    expect((await fixture.press(pages[0] as (typeof pages)[0], 'pay')).status).toBe(410);
    expect((await fixture.rows(owner)).map(({ plan, status }) => [plan, status])).toEqual([
      ['hobby', 'expired'],
      ['studio', 'open'],
    ]);
  });

  test('costs the catalog’s price in the provider’s units, and is paid by card', async () => {
    const owner = await fixture.newCaller();
    await fixture.checkout(owner, 'hobby');
    const { customer = '' } = await fixture.atProvider(owner);
    const price = { amount: 5000, currency: 'ISK', interval: 'month' } as const;
    const endsAt = new Date(fixture.clock.now().getTime() + 3600_000);
    const asked = { id: 'bsub_isk', customer, title: 'Hobby', price, endsAt, returnUrl: fixture.url };
    const page = await fixture.deps.billing?.openSession(asked);
    const asBought = { amount_total: 500_000, allowed_payment_method_types: ['card'] };
    expect(fixture.provider.stub.objects.get(page?.id ?? '')).toMatchObject(asBought);
  });

  test('leaves no payable page behind when its checkout page opens too late', async () => {
    const owner = await fixture.newCaller();
    const { billing } = fixture.deps;
    if (!billing) throw new Error('billing is off');
    const { openSession } = billing;
    const late: string[] = [];
    billing.openSession = async (asked) => {
      billing.openSession = openSession;
      const page = await openSession(asked);
      late.push(page.url ?? '');
      expect((await fixture.checkout(owner, 'studio')).status).toBe(200);
      return page;
    };
    const answer = await fixture.checkout(owner, 'hobby');
    expect((await fetch(`${late[0]}/pay`, { method: 'POST', redirect: 'manual' })).status).toBe(410);
    expect([answer.body.url === late[0], answer.body.plan]).toEqual([false, 'hobby']);
    const rows = await fixture.rows(owner);
    expect(rows.map(({ plan, status }) => `${plan} ${status}`)).toEqual([
      'hobby expired',
      'studio expired',
      'hobby open',
    ]);
  });

  test('replaces the previous one, which is cancelled at the provider', async () => {
    const owner = await fixture.newCaller();
    await fixture.buy(owner, 'hobby');
    await fixture.buy(owner, 'studio');
    await fixture.until(
      () => fixture.rows(owner),
      (rows) => rows.map(({ plan, status }) => `${plan} ${status}`).join() === 'hobby ended,studio active',
    );
    expect((await fixture.atProvider(owner)).live).toHaveLength(1);
  });

  test('is invalid_plan if unknown, plan_unavailable if not sold, already_subscribed if current', async () => {
    const owner = await fixture.newCaller();
    expect(await refusal(fixture.checkout(owner, 'gold'))).toEqual([400, 'invalid_plan']);
    expect(await refusal(owner.call('POST', '/v1/billing/checkout', { body: {} }))).toEqual([400, 'invalid_plan']);
    expect(await refusal(fixture.checkout(owner, 'shop'))).toEqual([501, 'plan_unavailable']);
    expect(await refusal(fixture.checkout(owner, 'free'))).toEqual([501, 'plan_unavailable']);
    await fixture.buy(owner, 'hobby');
    expect(await refusal(fixture.checkout(owner, 'hobby'))).toEqual([409, 'already_subscribed']);
  });

  test('is managed on the provider’s page once paid, and is no_billing_history before', async () => {
    const owner = await fixture.newCaller();
    const portal = () => owner.call('POST', '/v1/billing/portal');
    expect(await refusal(portal())).toEqual([409, 'no_billing_history']);
    await fixture.checkout(owner, 'hobby');
    expect(await refusal(portal())).toEqual([409, 'no_billing_history']);
    await fixture.buy(owner, 'hobby');
    const { body } = await portal();
    expect(body.url.startsWith(fixture.provider.url)).toBe(true);
    expect(await (await fetch(body.url)).text()).toContain('Cancel at the end of the month');
  });

  test('stays active after a cancellation until the paid period ends', async () => {
    const owner = await fixture.newCaller();
    await fixture.buy(owner, 'hobby');
    (await fixture.atProvider(owner)).act('cancel');
    const { ends_at } = await fixture.until(
      () => fixture.read(owner),
      (billing) => billing.ends_at !== null,
    );
    expect(new Date(ends_at).getTime()).toBeGreaterThan(fixture.clock.now().getTime() + 29 * dayMs);
    (await fixture.atProvider(owner)).act('end');
    await fixture.until(
      () => fixture.read(owner),
      ({ plan, status }) => plan === 'free' && status === 'free',
    );
    expect((await fixture.rows(owner)).at(-1)?.status).toBe('ended');
    // The history stays.
    expect((await owner.call('POST', '/v1/billing/portal')).status).toBe(200);
  });

  test('is past_due during the grace period after a failed payment, and continues once paid', async () => {
    const late = await createBillingFixture({ env: { FRONTAGE_BILLING_GRACE_DAYS: '7' } });
    try {
      const owner = await late.newCaller();
      await late.buy(owner, 'hobby');
      (await late.atProvider(owner)).act('fail');
      const overdue = await late.until(
        () => late.read(owner),
        ({ status }) => status === 'past_due',
      );
      expect(overdue).toMatchObject({ plan: 'hobby', next_action: expect.stringContaining('/v1/billing/portal') });
      const left = new Date(overdue.ends_at).getTime() - late.clock.now().getTime();
      late.skip(left - 60_000);
      expect(await late.read(owner)).toMatchObject({ plan: 'hobby', status: 'past_due' });
      late.skip(60_001);
      expect(await late.read(owner)).toMatchObject({ plan: 'free', status: 'free', limits: { sites: 3 } });
      (await late.atProvider(owner)).act('settle');
      const [row] = await late.rows(owner);
      // The workflow may be asking too, from before it was paid; then its answer counts, and the next one is newer.
      await late.until(
        async () => {
          await querySubscription(late.deps.em(), late.deps, row?.id ?? '');
          return await late.read(owner);
        },
        ({ plan, status }) => plan === 'hobby' && status === 'active',
      );
    } finally {
      await late.close();
    }
  });

  test('cannot be bought while the provider is down; the same call succeeds later', async () => {
    const owner = await fixture.newCaller();
    setForTest(fixture.knobs, { turnAway: 1 });
    const away = await fixture.checkout(owner, 'hobby');
    fixture.knobs.turnAway = 0;
    expect(errorOf(away)).toMatchObject({ code: 'provider_error', retryable: true });
    expect(away.text).not.toMatch(/stripe|cs_test|cus_|sub_/i);
    expect((await fixture.checkout(owner, 'hobby')).status).toBe(200);
  });

  test('reveals the provider only in the addresses of its two pages', async () => {
    const owner = await fixture.newCaller();
    await fixture.buy(owner, 'hobby');
    const told = [await owner.call('GET', '/v1/billing'), await owner.call('GET', '/v1/account')];
    const page = await fixture.checkout(owner, 'studio');
    const portal = await owner.call('POST', '/v1/billing/portal');
    const { url, ...rest } = page.body;
    expect(() => new URL(url)).not.toThrow();
    expect(Object.keys(portal.body)).toEqual(['url']);
    for (const text of [...told.map((answer) => answer.text), JSON.stringify(rest)]) {
      expect(text).not.toMatch(/stripe|cs_test|cus_|"sub_|evt_|127\.0\.0\.1/i);
    }
    expect(JSON.stringify(fixture.logged)).not.toMatch(/sk_test|whsec_|cs_test|cus_/);
  });
});

test('without metering every billing call is billing_disabled, and the configured plan applies', async () => {
  const fixture = await createFixture({ FRONTAGE_PLAN: 'hobby' });
  try {
    const owner = await fixture.newCaller();
    for (const [method, path] of [
      ['GET', '/v1/billing'],
      ['POST', '/v1/billing/checkout'],
      ['POST', '/v1/billing/portal'],
    ] as const) {
      const answer = await owner.call(method, path, method === 'POST' ? { body: { wrong: 1 } } : {});
      expect([answer.status, errorOf(answer).code]).toEqual([501, 'billing_disabled']);
    }
    const { body } = await owner.call('GET', '/v1/account');
    expect(body.billing).toEqual({ enabled: false, plan: 'hobby', status: 'active' });
    expect(body.limits.sites.value).toBe(10);
    expect((await fetch(`${fixture.url}/hooks/billing`, { method: 'POST', body: '{}' })).status).toBe(501);
  } finally {
    await fixture.close();
  }
});
