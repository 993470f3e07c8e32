import Stripe from 'stripe';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queryOverdue } from '#db/billing/provider-queries.ts';
import { recordProviderEvent, sweepBilling } from '#db/billing/transitions.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import type { Billing } from '#providers/billing.ts';
import { workflowIds } from '#rules/workflow-ids.ts';
import { newId } from '#runtime/ids.ts';
import type { Caller } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { type BillingFixture, createBillingFixture } from './fixture.ts';

let fixture: BillingFixture;
beforeAll(async () => {
  fixture = await createBillingFixture();
});
afterAll(() => fixture?.close());

async function send(event: object, { secret = fixture.webhookSecret, at = fixture.clock.now() } = {}) {
  const payload = JSON.stringify(event);
  const timestamp = Math.floor(at.getTime() / 1000);
  const signature = await Stripe.webhooks.generateTestHeaderStringAsync({ payload, secret, timestamp });
  const headers = { 'content-type': 'application/json', 'stripe-signature': signature };
  return await fetch(`${fixture.url}/hooks/billing`, { method: 'POST', headers, body: payload });
}
const eventOf = (id: string, customer: string, more: object = {}) => ({
  id,
  object: 'event',
  type: 'customer.subscription.updated',
  data: { object: { id: 'sub_x', object: 'subscription', customer, ...more } },
});
/** Ends the workflow that follows a plan, between two of its questions: the answer to one under way would be written down after its end. */
async function endFollowing(caller: Caller): Promise<void> {
  await fixture.provider.settled();
  const [row] = await fixture.rows(caller);
  const workflowId = workflowIds.followSubscription(row?.id ?? '');
  const handle = fixture.deps.temporal.workflow.getHandle(workflowId);
  const isIdle = async () => {
    if ((await fixture.deps.em().count(OutboxEntry, { workflowId, sentAt: null })) > 0) return false;
    const { raw } = await handle.describe();
    return !raw.pendingWorkflowTask && (raw.pendingActivities ?? []).length === 0;
  };
  await fixture.until(isIdle, (idle) => idle);
  await handle.terminate('of the test');
}

const signalsOf = async (caller: Caller) => {
  const [row] = await fixture.rows(caller);
  const workflowId = workflowIds.followSubscription(row?.id ?? '');
  return await fixture.deps.em().count(OutboxEntry, { workflowId, kind: 'signal' });
};

test('unsigned, altered and stale messages are refused', async () => {
  const event = eventOf('evt_1', 'cus_1');
  expect((await send(event, { secret: 'whsec_of_another' })).status).toBe(400);
  expect((await send(event, { at: new Date(fixture.clock.now().getTime() - 6 * 60_000) })).status).toBe(400);
  const bare = await fetch(`${fixture.url}/hooks/billing`, { method: 'POST', body: JSON.stringify(event) });
  expect(bare.status).toBe(400);
  expect((await send(event)).status).toBe(200);
});

test('a message’s content is not trusted: the provider is queried', async () => {
  const owner = await fixture.newCaller();
  await fixture.buy(owner, 'hobby');
  const { customer } = await fixture.atProvider(owner);
  const before = (await fixture.rows(owner))[0]?.asked ?? 0;
  expect((await send(eventOf('evt_lie', customer ?? '', { status: 'canceled' }))).status).toBe(200);
  await fixture.until(
    () => fixture.rows(owner),
    ([row]) => (row?.asked ?? 0) > before,
  );
  expect(await fixture.read(owner)).toMatchObject({ plan: 'hobby', status: 'active' });
});

test('a message received twenty times concurrently is handled once', async () => {
  const owner = await fixture.newCaller();
  await fixture.buy(owner, 'hobby');
  await fixture.provider.settled();
  const { customer } = await fixture.atProvider(owner);
  const before = await signalsOf(owner);
  const answers = await Promise.all(Array.from({ length: 20 }, () => send(eventOf('evt_20', customer ?? ''))));
  expect(answers.map(({ status }) => status)).toEqual(Array(20).fill(200));
  expect(await signalsOf(owner)).toBe(before + 1);
});

test('a message about an unknown subscription is accepted and changes nothing', async () => {
  expect((await send(eventOf('evt_stranger', 'cus_stranger'))).status).toBe(200);
});

test('a purchase whose messages are all lost still becomes active', async () => {
  const owner = await fixture.newCaller();
  setForTest(fixture.knobs, { loseWebhooks: 1 });
  expect(await fixture.buy(owner, 'hobby')).toMatchObject({ plan: 'hobby', status: 'active' });
});

test('a lost cancellation is noticed, and so are subscriptions without a workflow', async () => {
  const owner = await fixture.newCaller();
  await fixture.buy(owner, 'hobby');
  await endFollowing(owner);
  setForTest(fixture.knobs, { loseWebhooks: 1 });
  (await fixture.atProvider(owner)).act('end');
  fixture.knobs.loseWebhooks = 0;
  expect((await fixture.read(owner)).plan).toBe('hobby');
  fixture.skip(7 * 3600_000);
  expect(await queryOverdue(fixture.deps.em, fixture.deps)).toBeGreaterThan(0);
  expect(await fixture.read(owner)).toMatchObject({ plan: 'free', status: 'free' });
});

test('a subscription that cannot be queried does not block the others', async () => {
  const [lost, owner] = [await fixture.newCaller(), await fixture.newCaller()];
  for (const one of [lost, owner]) {
    await fixture.buy(one, 'hobby');
    await endFollowing(one);
  }
  const update = `update billing_subscription set provider_subscription = 'sub_lost', ask_at = ask_at - interval '1 hour' where account_id = ?`;
  await fixture.deps.em().execute(update, [lost.accountId]);
  setForTest(fixture.knobs, { loseWebhooks: 1 });
  (await fixture.atProvider(owner)).act('end');
  fixture.knobs.loseWebhooks = 0;
  fixture.skip(7 * 3600_000);
  await expect(queryOverdue(fixture.deps.em, fixture.deps)).rejects.toThrow('missing');
  expect((await fixture.read(owner)).plan).toBe('free');
  expect((await fixture.read(lost)).plan).toBe('hobby');
  await fixture.deps
    .em()
    .execute(
      `update billing_subscription set status = 'ended', settled_at = ask_at, ask_at = null where account_id = ?`,
      [lost.accountId],
    );
});

test('slow queries to the provider run concurrently', async () => {
  const owners = await Promise.all(Array.from({ length: 12 }, () => fixture.newCaller()));
  const now = fixture.clock.now();
  const hourAgo = new Date(now.getTime() - 3600_000);
  const insert = `insert into billing_subscription (id, account_id, plan, status, created_at, checkout_ends_at, provider_subscription, started_at, ask_at)
    values (?, ?, 'hobby', 'active', ?, ?, ?, ?, ?)`;
  for (const { accountId } of owners) {
    const id = newId('bsub');
    await fixture.deps.em().execute(insert, [id, accountId, now, now, `sub_${id}`, now, hourAgo]);
  }
  const all = Promise.withResolvers<void>();
  let asked = 0;
  const readSubscription = async () => {
    asked += 1;
    if (asked === 10) all.resolve();
    // Asked one after the other, the first is never answered.
    await all.promise;
    return { status: 'active' as const, cancelsAt: null };
  };
  const billing = { ...(fixture.deps.billing as Billing), readSubscription };
  expect(await queryOverdue(fixture.deps.em, { ...fixture.deps, billing })).toBe(owners.length);
  const late = 'select 1 from billing_subscription where ask_at < ?';
  expect(await fixture.deps.em().execute(late, [now])).toEqual([]);
});

test('a webhook is known for thirty days', async () => {
  const { clock, deps } = fixture;
  const event = { id: `evt_${newId('bsub')}`, customer: null };
  const days = (count: number) => new Date(clock.now().getTime() + count * 24 * 3600_000);
  expect(await recordProviderEvent(deps.em(), clock, event)).toBe(true);
  await sweepBilling(deps.em(), days(29.9));
  expect(await recordProviderEvent(deps.em(), clock, event)).toBe(false);
  await sweepBilling(deps.em(), days(30.1));
  expect(await recordProviderEvent(deps.em(), clock, event)).toBe(true);
});
