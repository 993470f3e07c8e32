/**
 * Journeys of subscriptions at random: pages opened, changed, paid, left; payments that fail and are made up; cancellations, portals, grants;
 * while messages are lost, doubled and reordered, calls turned away, and answers lost. In the end row, provider and limits agree.
 */
import { expect, test } from 'vitest';
import { endPlanGrant, grantPlan } from '#api/billing/grants.ts';
import { querySubscription } from '#db/billing/provider-queries.ts';
import { isSubscriptionSettled } from '#rules/states.ts';
import type { Answer, Caller } from '#test/api/fixture.ts';
import { type BillingFixture, createBillingFixture, dayMs } from '#test/billing/fixture.ts';
import { numbersFrom } from '#tools/scripts/chance.ts';
import { isLong, seedOr } from './size.ts';

const accounts = isLong ? 60 : 8;
const steps = isLong ? 40 : 12;
const seed = seedOr(29);

const wild = { loseWebhooks: 0.3, doubleWebhooks: 0.3, delayWebhooksMs: 150, turnAway: 0.08, loseAnswers: 0.08 };
const calm = { loseWebhooks: 0, doubleWebhooks: 0, delayWebhooksMs: 0, turnAway: 0, loseAnswers: 0 };

async function journey(fixture: BillingFixture, owner: Caller, random: () => number): Promise<void> {
  const pages: Answer[] = [];
  const pick = <T>(all: readonly T[]): T => all[Math.floor(random() * all.length)] as T;
  const ignored = () => {};
  const atProvider = async (name: string) => (await fixture.atProvider(owner)).act(name);
  const acts: Record<string, () => Promise<unknown>> = {
    open: async () => pages.push(await fixture.checkout(owner, pick(['hobby', 'studio']))),
    twoTabs: async () => {
      const both = ['hobby', 'studio'].map((plan) => fixture.checkout(owner, plan));
      pages.push(...(await Promise.all(both)));
    },
    pay: async () => pages.length > 0 && pick(pages).status === 200 && (await fixture.press(pick(pages), 'pay')),
    decline: async () => pages.length > 0 && (await fixture.press(pick(pages), 'decline')),
    portal: () => owner.call('POST', '/v1/billing/portal'),
    cancel: () => atProvider('cancel'),
    resume: () => atProvider('resume'),
    fail: () => atProvider('fail'),
    settle: () => atProvider('settle'),
    end: () => atProvider('end'),
    grant: () => {
      const endsAt = new Date(fixture.clock.now().getTime() + dayMs);
      return grantPlan(fixture.deps.em(), fixture.deps, { accountId: owner.accountId, plan: 'hobby', endsAt });
    },
    endGrant: () => endPlanGrant(fixture.deps.em(), fixture.deps, owner.accountId),
  };
  const weighed = [...Object.keys(acts), 'open', 'pay', 'pay', 'pay', 'settle'];
  for (let step = 0; step < steps; step++) await acts[pick(weighed)]?.().catch(ignored);
}

test('after random histories of lost, repeated and reordered messages, row, provider and limits agree', {
  timeout: isLong ? 900_000 : 120_000,
}, async () => {
  const random = numbersFrom(seed);
  const fixture = await createBillingFixture({ random });
  try {
    const owners = await Promise.all(Array.from({ length: accounts }, () => fixture.newCaller()));
    Object.assign(fixture.knobs, wild);
    await Promise.all(owners.map((owner) => journey(fixture, owner, random)));
    Object.assign(fixture.knobs, calm);
    await fixture.provider.settled();
    const seen: Record<string, number> = {};
    for (const owner of owners) {
      for (const row of await fixture.rows(owner)) await askUntilKnown(fixture, row.id);
      const rows = await fixture.rows(owner);
      const { live } = await fixture.atProvider(owner);
      const inForce = rows.filter(({ status }) => status === 'active' || status === 'past_due');
      // One subscription at the provider, and it is the row in force; nothing else is charged for.
      expect(live.map(({ id }) => id)).toEqual(inForce.map(({ providerSubscription }) => providerSubscription));
      expect(live.map(({ status }) => status)).toEqual(inForce.map(({ status }) => status));
      for (const { status, settledAt, askAt } of rows) {
        expect([settledAt !== null, askAt === null]).toEqual(Array(2).fill(isSubscriptionSettled(status)));
      }
      const billing = await fixture.read(owner);
      const [paid] = inForce;
      const has = new Set([paid?.plan, billing.status === 'granted' ? 'hobby' : undefined]);
      expect(billing.plan).toBe(['studio', 'hobby'].find((name) => has.has(name)) ?? 'free');
      const account = (await owner.call('GET', '/v1/account')).body;
      const { limits } = billing.plans.find(({ name }: { name: string }) => name === billing.plan);
      const told = Object.fromEntries(Object.keys(limits).map((name) => [name, account.limits[name].value]));
      expect(told).toEqual(limits);
      seen[billing.status] = (seen[billing.status] ?? 0) + 1;
    }
    // The journeys lead to more than one place, or they show nothing.
    expect(Object.keys(seen).length).toBeGreaterThan(1);
  } finally {
    await fixture.close();
  }
});

/** What a workflow would ask in the end, without its waits. */
async function askUntilKnown(fixture: BillingFixture, id: string): Promise<void> {
  for (let times = 0; times < 3; times++) await querySubscription(fixture.deps.em(), fixture.deps, id);
}
