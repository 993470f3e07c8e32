import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { querySubscription } from '#db/billing/provider-queries.ts';
import { type Caller, createWorld, errorOf } from '#test/api/world.ts';
import { type BillingWorld, createBillingWorld, dayMs } from './world.ts';

describe('a plan', () => {
  let world: BillingWorld;
  beforeAll(async () => {
    world = await createBillingWorld();
  });
  afterAll(() => world?.close());
  const refusal = async (call: Promise<Awaited<ReturnType<Caller['call']>>>) => {
    const answer = await call;
    return [answer.status, errorOf(answer).code];
  };

  test('is read with what it includes, its caps, and every plan that there is, sellable or not', async () => {
    const owner = await world.newCaller();
    const billing = await world.read(owner);
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

  test('is bought on a page of whoever takes the money, and in force once it is paid', async () => {
    const owner = await world.newCaller();
    const page = await world.checkout(owner, 'hobby');
    expect(page.body).toMatchObject({
      plan: 'hobby',
      status: 'open',
      next_action: expect.stringContaining('/v1/billing'),
    });
    expect(page.body.url.startsWith(world.provider.url)).toBe(true);
    expect((await world.read(owner)).checkout).toMatchObject({ plan: 'hobby' });
    expect(await (await fetch(page.body.url)).text()).toContain('9.00 EUR');
    await world.press(page, 'decline');
    expect((await world.read(owner)).plan).toBe('free');
    await world.press(page, 'pay');
    await world.until(
      () => world.read(owner),
      ({ plan, status, checkout }) => plan === 'hobby' && status === 'active' && checkout === null,
    );
    const account = (await owner.call('GET', '/v1/account')).body;
    expect(account.billing).toEqual({ enabled: true, plan: 'hobby', status: 'active' });
    expect(account.limits.sites.value).toBe(10);
  });

  test('has one page to be paid on: asked again it is the same one, for another plan the first one ends', async () => {
    const owner = await world.newCaller();
    const pages = await Promise.all(Array.from({ length: 8 }, () => world.checkout(owner, 'hobby')));
    expect(new Set(pages.map(({ status, body }) => `${status} ${body.url}`)).size).toBe(1);
    const other = await world.checkout(owner, 'studio');
    expect(other.body.url).not.toBe(pages[0]?.body.url);
    expect((await world.press(pages[0] as (typeof pages)[0], 'pay')).status).toBe(410);
    expect((await world.rows(owner)).map(({ plan, status }) => [plan, status])).toEqual([
      ['hobby', 'expired'],
      ['studio', 'open'],
    ]);
  });

  test('costs what the catalog says in a currency that the provider counts otherwise, and is paid by card on the page', async () => {
    const owner = await world.newCaller();
    await world.checkout(owner, 'hobby');
    const { customer = '' } = await world.atProvider(owner);
    const price = { amount: 5000, currency: 'ISK', interval: 'month' } as const;
    const endsAt = new Date(world.clock.now().getTime() + 3600_000);
    const asked = { id: 'bsub_isk', customer, title: 'Hobby', price, endsAt, returnUrl: world.url };
    const page = await world.deps.billing?.openCheckout(asked);
    const asBought = { amount_total: 500_000, allowed_payment_method_types: ['card'] };
    expect(world.provider.stub.objects.get(page?.id ?? '')).toMatchObject(asBought);
  });

  test('whose page came too late, for another plan was asked for meanwhile, leaves no page that could be paid for nothing', async () => {
    const owner = await world.newCaller();
    const { billing } = world.deps;
    if (!billing) throw new Error('billing is off');
    const { openCheckout } = billing;
    const late: string[] = [];
    billing.openCheckout = async (asked) => {
      billing.openCheckout = openCheckout;
      const page = await openCheckout(asked);
      late.push(page.url ?? '');
      expect((await world.checkout(owner, 'studio')).status).toBe(200);
      return page;
    };
    const answer = await world.checkout(owner, 'hobby');
    expect((await fetch(`${late[0]}/pay`, { method: 'POST', redirect: 'manual' })).status).toBe(410);
    expect([answer.body.url === late[0], answer.body.plan]).toEqual([false, 'hobby']);
    const rows = await world.rows(owner);
    expect(rows.map(({ plan, status }) => `${plan} ${status}`)).toEqual([
      'hobby expired',
      'studio expired',
      'hobby open',
    ]);
  });

  test('that is bought takes the place of the one before, which is ended at the provider too', async () => {
    const owner = await world.newCaller();
    await world.buy(owner, 'hobby');
    await world.buy(owner, 'studio');
    await world.until(
      () => world.rows(owner),
      (rows) => rows.map(({ plan, status }) => `${plan} ${status}`).join() === 'hobby ended,studio active',
    );
    expect((await world.atProvider(owner)).live).toHaveLength(1);
  });

  test('that is not in the catalog is invalid_plan, one that is not sold plan_unavailable, the own one already_subscribed', async () => {
    const owner = await world.newCaller();
    expect(await refusal(world.checkout(owner, 'gold'))).toEqual([400, 'invalid_plan']);
    expect(await refusal(owner.call('POST', '/v1/billing/checkout', { body: {} }))).toEqual([400, 'invalid_plan']);
    expect(await refusal(world.checkout(owner, 'shop'))).toEqual([501, 'plan_unavailable']);
    expect(await refusal(world.checkout(owner, 'free'))).toEqual([501, 'plan_unavailable']);
    await world.buy(owner, 'hobby');
    expect(await refusal(world.checkout(owner, 'hobby'))).toEqual([409, 'already_subscribed']);
  });

  test('is managed on a page of whoever takes the money, once something was paid: before, no_billing_history', async () => {
    const owner = await world.newCaller();
    const portal = () => owner.call('POST', '/v1/billing/portal');
    expect(await refusal(portal())).toEqual([409, 'no_billing_history']);
    await world.checkout(owner, 'hobby');
    expect(await refusal(portal())).toEqual([409, 'no_billing_history']);
    await world.buy(owner, 'hobby');
    const { body } = await portal();
    expect(body.url.startsWith(world.provider.url)).toBe(true);
    expect(await (await fetch(body.url)).text()).toContain('Cancel at the end of the month');
  });

  test('that is cancelled stays in force until what is paid is over, and then everything is as without it', async () => {
    const owner = await world.newCaller();
    await world.buy(owner, 'hobby');
    (await world.atProvider(owner)).act('cancel');
    const { ends_at } = await world.until(
      () => world.read(owner),
      (billing) => billing.ends_at !== null,
    );
    expect(new Date(ends_at).getTime()).toBeGreaterThan(world.clock.now().getTime() + 29 * dayMs);
    (await world.atProvider(owner)).act('end');
    await world.until(
      () => world.read(owner),
      ({ plan, status }) => plan === 'free' && status === 'free',
    );
    expect((await world.rows(owner)).at(-1)?.status).toBe('ended');
    // The history stays.
    expect((await owner.call('POST', '/v1/billing/portal')).status).toBe(200);
  });

  test('whose payment fails is past_due and in force for the days of grace, to the instant; paid, it goes on', async () => {
    const late = await createBillingWorld({ env: { FRONTAGE_BILLING_GRACE_DAYS: '7' } });
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
      await querySubscription(late.deps.em(), late.deps, row?.id ?? '');
      expect(await late.read(owner)).toMatchObject({ plan: 'hobby', status: 'active' });
    } finally {
      await late.close();
    }
  });

  test('cannot be bought while the provider is away; the error names no provider, and the same call goes on later', async () => {
    const owner = await world.newCaller();
    world.knobs.turnAway = 1;
    const away = await world.checkout(owner, 'hobby');
    world.knobs.turnAway = 0;
    expect(errorOf(away)).toMatchObject({ code: 'provider_error', retryable: true });
    expect(away.text).not.toMatch(/stripe|cs_test|cus_|sub_/i);
    expect((await world.checkout(owner, 'hobby')).status).toBe(200);
  });

  test('leaves nothing of the provider in any answer but the address of its two pages', async () => {
    const owner = await world.newCaller();
    await world.buy(owner, 'hobby');
    const told = [await owner.call('GET', '/v1/billing'), await owner.call('GET', '/v1/account')];
    const page = await world.checkout(owner, 'studio');
    const portal = await owner.call('POST', '/v1/billing/portal');
    const { url, ...rest } = page.body;
    expect(url).toBeTruthy();
    expect(Object.keys(portal.body)).toEqual(['url']);
    for (const text of [...told.map((answer) => answer.text), JSON.stringify(rest)]) {
      expect(text).not.toMatch(/stripe|cs_test|cus_|"sub_|evt_|127\.0\.0\.1/i);
    }
    expect(JSON.stringify(world.logged)).not.toMatch(/sk_test|whsec_|cs_test|cus_/);
  });
});

test('where nothing is metered every call is billing_disabled, and the plan is the one that is configured', async () => {
  const world = await createWorld({ FRONTAGE_PLAN: 'hobby' });
  try {
    const owner = await world.newCaller();
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
    expect((await fetch(`${world.url}/hooks/billing`, { method: 'POST', body: '{}' })).status).toBe(501);
  } finally {
    await world.close();
  }
});
