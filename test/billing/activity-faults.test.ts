import { afterAll, beforeAll, expect, test } from 'vitest';
import { closeCheckoutSession, querySubscription } from '#db/billing/provider-queries.ts';
import { BillingSubscription } from '#db/billing/subscription.ts';
import { newId } from '#runtime/ids.ts';
import { type ActivityFault, activityFaults } from '#test/publishing/activity-faults.ts';
import { aroundActivities } from '#test/stack/worker.ts';
import { type BillingFixture, createBillingFixture } from './fixture.ts';

const { around, interceptors } = aroundActivities();
let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await createBillingFixture({ interceptors });
});
afterAll(() => fixture?.close());

test.each(Object.keys(activityFaults) as ActivityFault[])(
  'an activity that %s leaves one active plan and one subscription',
  async (fault) => {
    const owner = await fixture.newCaller();
    await fixture.buy(owner, 'hobby');
    const page = await fixture.checkout(owner, 'studio');
    around.set('askAboutSubscription', activityFaults[fault]);
    await fixture.press(page, 'pay');
    await fixture.until(
      () => fixture.rows(owner),
      (rows) => rows.map(({ plan, status }) => `${plan} ${status}`).join() === 'hobby ended,studio active',
    );
    expect(around.size).toBe(0);
    expect(await fixture.read(owner)).toMatchObject({ plan: 'studio', status: 'active' });
    const [row] = (await fixture.rows(owner)).slice(-1);
    expect((await fixture.atProvider(owner)).live.map(({ id }) => id)).toEqual([row?.providerSubscription]);
  },
);

test('a page is not abandoned by a query that started before it existed', async () => {
  const owner = await fixture.newCaller();
  const em = () => fixture.deps.em();
  // Nobody follows it.
  const now = fixture.clock.now();
  const begun = { id: newId('bsub'), account: owner.accountId, plan: 'hobby', status: 'open' as const };
  const checkoutEndsAt = new Date(now.getTime() + 3600_000);
  await em().insert(BillingSubscription, { ...begun, createdAt: now, checkoutEndsAt, askAt: checkoutEndsAt });
  // A call for another plan has loaded the row by now, and closes it after this one has told its page.
  const stale = await em().findOneOrFail(BillingSubscription, { id: begun.id });
  const page = await fixture.checkout(owner, 'hobby');
  expect((await closeCheckoutSession(em(), fixture.deps, stale)).status).toBe('open');
  await fixture.press(page, 'pay');
  await querySubscription(em(), fixture.deps, begun.id);
  expect((await fixture.read(owner)).plan).toBe('hobby');
});
