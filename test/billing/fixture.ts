/** A platform that sells plans, a stub of the payment provider, and a worker that follows subscriptions. */
import { rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { WorkerInterceptors } from '@temporalio/worker';
import { BillingSubscription } from '#db/billing/subscription.ts';
import type { Plan } from '#rules/plans.ts';
import { ownCatalog, readPlans } from '#runtime/config/plans.ts';
import { type Answer, type Caller, createFixture } from '#test/api/fixture.ts';
import { until } from '#test/stack/until.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { portalActs, subscriptionsOf } from '#tools/local/payments/billing.ts';
import { findMock } from '#tools/local/payments/stripe-mock.ts';
import { startPaymentsStub } from '#tools/local/payments/stub.ts';
import type { Hooks } from '#tools/local/payments/webhooks.ts';

export const dayMs = 86_400_000;
const key = 'sk_test_platform0000';
const webhookSecret = 'whsec_of_the_tests';

export type BillingFixture = Awaited<ReturnType<typeof createBillingFixture>>;
export type PaymentsStub = Awaited<ReturnType<typeof startPaymentsStub>>;

export type BillingOptions = {
  env?: Record<string, string>;
  worker?: boolean;
  random?: () => number;
  interceptors?: WorkerInterceptors;
  /** Changes the catalog. */
  plans?: (plans: Plan[]) => Plan[];
};

/** The catalog that comes with the project. */
export function ownPlans(): Plan[] {
  const read = readPlans(ownCatalog);
  if ('faults' in read) throw new Error(read.faults.join('\n'));
  return structuredClone([...read.plans]);
}

let catalogs = 0;
/** Writes a catalog to a file of its own, which goes with the process. Answers its path. */
export function writeCatalog(content: unknown): string {
  const path = join(tmpdir(), `frontage-plans-${process.pid}-${++catalogs}.json`);
  process.once('exit', () => rmSync(path, { force: true }));
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

export async function createBillingFixture(options: BillingOptions = {}) {
  const { env = {}, worker = true, random, plans, interceptors } = options;
  let now = () => new Date();
  const hooks: Hooks = {};
  const mock = findMock(process.env);
  const provider = await startPaymentsStub({
    clock: { now: () => now() },
    key,
    hooks,
    mock,
    ...(random ? { random } : {}),
  });
  const fixture = await createFixture({
    FRONTAGE_BILLING_KEY: key,
    FRONTAGE_BILLING_URL: provider.url,
    FRONTAGE_BILLING_WEBHOOK_SECRET: webhookSecret,
    ...(plans ? { FRONTAGE_PLANS: writeCatalog(plans(ownPlans())) } : {}),
    ...(worker ? { TEMPORAL_NAMESPACE: await createNamespace() } : {}),
    ...env,
  });
  now = fixture.clock.now;
  hooks.platform = { url: `${fixture.url}/hooks/billing`, secret: webhookSecret };
  const running = worker ? await startWorker(fixture.deps, interceptors ? { interceptors } : {}) : undefined;

  const post = (url: string) => fetch(url, { method: 'POST', redirect: 'manual' });
  const checkout = (caller: Caller, plan: string, headers: Record<string, string> = {}) =>
    caller.call('POST', '/v1/billing/checkout', { body: { plan }, headers });
  const read = async (caller: Caller) => (await caller.call('GET', '/v1/billing')).body;

  return {
    ...fixture,
    provider,
    knobs: provider.knobs,
    webhookSecret,
    mock,
    checkout,
    read,
    /** Presses a button of a page to pay on. */
    press: (page: Answer, act: 'pay' | 'decline' | 'cancel') => post(`${page.body.url}/${act}`),
    /** Buys the plan and waits until it is in force. */
    async buy(caller: Caller, plan: string) {
      const page = await checkout(caller, plan);
      if (page.status !== 200) throw new Error(`no page was opened: ${page.text}`);
      await post(`${page.body.url}/pay`);
      return await until(
        () => read(caller),
        (billing) => billing.plan === plan && billing.status === 'active',
      );
    },
    /** What the account's subscription at the provider is, and what is done to it there. */
    async atProvider(caller: Caller) {
      const [row] = await fixture.deps
        .em()
        .execute<{ customer: string }[]>(
          'select provider_customer as customer from billing_customer where account_id = ?',
          [caller.accountId],
        );
      const live = subscriptionsOf(provider.stub, row?.customer);
      const act = (name: keyof typeof portalActs) => live[0] && portalActs[name]?.(provider.stub, live[0]);
      return { customer: row?.customer, live, act };
    },
    rows: (caller: Caller) =>
      fixture.deps.em().find(BillingSubscription, { account: caller.accountId }, { orderBy: { id: 'asc' } }),
    until: <T>(look: () => Promise<T> | T, there: (seen: T) => boolean) => until(look, there),
    async close() {
      await running?.close();
      await provider.close();
      await fixture.close();
    },
  };
}
