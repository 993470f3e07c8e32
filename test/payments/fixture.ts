/** A fixture in which money is taken: the API, a worker and the stand-in for the provider, all on one clock. */
import { afterAll, beforeAll } from 'vitest';
import { encryptKey } from '#db/payouts/credentials.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PayoutAgreement } from '#db/payouts/payout-agreement.ts';
import type { PayoutAccountStatus } from '#rules/states.ts';
import { newId } from '#runtime/ids.ts';
import type { Caller, Fixture } from '#test/api/fixture.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import type { Knobs } from '#tools/local/payments/state.ts';
import { findMock } from '#tools/local/payments/stripe-mock.ts';
import { startPaymentsStub } from '#tools/local/payments/stub.ts';
import { freePort } from '#tools/local/ports.ts';

export const paymentsKey = 'sk_test_platform0000';
export const webhookSecret = 'whsec_of_the_tests';

/** What the configuration needs so that money is taken, at the address where the stand-in will be. */
export const payingEnv = (port: number) => ({
  FRONTAGE_PAYOUT_RAILS: 'own_key,connect',
  FRONTAGE_PAYMENTS_URL: `http://127.0.0.1:${port}`,
  FRONTAGE_PAYMENTS_KEY: paymentsKey,
  FRONTAGE_PAYMENTS_WEBHOOK_SECRET: webhookSecret,
});

type Given = { status?: PayoutAccountStatus; currency?: string | null; key?: string };

/** A payout account of the owner, attached to the site. */
export async function attachAccount(
  fixture: Pick<Fixture, 'deps' | 'clock' | 'config'>,
  owner: Pick<Caller, 'accountId'>,
  siteId: string,
  { status = 'ready', currency = 'EUR', key }: Given = {},
): Promise<{ id: string; key: string }> {
  const id = newId('pout');
  const own = key ?? `rk_test_${id.slice(5)}`;
  const now = fixture.clock.now();
  await fixture.deps.em().transactional(async (tx) => {
    tx.create(PayoutAccount, {
      id,
      account: owner.accountId,
      rail: 'own_key',
      name: 'Till',
      sealedKey: encryptKey(fixture.config, id, own),
      keyLastFour: own.slice(-4),
      providerAccount: `acct_of_${id}`,
      status,
      currency,
      waitingFor: [],
      createdAt: now,
    });
    await tx.flush();
    tx.create(PayoutAgreement, { id: newId('pout'), site: siteId, payoutAccount: id, beganAt: now });
  });
  return { id, key: own };
}

/** The same on the other rail: an account that is connected to ours. */
export async function attachConnected(
  fixture: Pick<Fixture, 'deps' | 'clock'>,
  owner: Pick<Caller, 'accountId'>,
  siteId: string,
): Promise<{ id: string; providerAccount: string }> {
  const { providerAccount = '' } =
    (await fixture.deps.payments?.createAccount({ idempotencyKey: newId('pout') })) ?? {};
  const id = newId('pout');
  const now = fixture.clock.now();
  await fixture.deps.em().transactional(async (tx) => {
    tx.create(PayoutAccount, {
      id,
      account: owner.accountId,
      rail: 'connect',
      name: 'Till',
      providerAccount,
      status: 'ready',
      currency: 'EUR',
      waitingFor: [],
      createdAt: now,
    });
    await tx.flush();
    tx.create(PayoutAgreement, { id: newId('pout'), site: siteId, payoutAccount: id, beganAt: now });
  });
  return { id, providerAccount };
}

export type PayingFixture = Awaited<ReturnType<typeof createPayingFixture>>;

export async function createPayingFixture(
  env: Record<string, string> | ((port: number) => Record<string, string>) = {},
  { knobs = {}, random, at }: { knobs?: Partial<Knobs>; random?: () => number; at?: string } = {},
) {
  const port = await freePort();
  const given = typeof env === 'function' ? env(port) : env;
  const fixture = await createBookingFixture({
    TEMPORAL_NAMESPACE: await createNamespace(),
    ...payingEnv(port),
    ...given,
  });
  /** Where payers and the provider find the API: another process where one is named. */
  const api = at ?? fixture.url;
  const stub = await startPaymentsStub({
    clock: fixture.clock,
    port,
    key: paymentsKey,
    mock: findMock(process.env),
    hooks: {
      connect: { url: `${api}/hooks/payments`, secret: webhookSecret },
      ...(fixture.config.billing
        ? { platform: { url: `${api}/hooks/billing`, secret: fixture.config.billing.webhookSecret } }
        : {}),
    },
    knobs,
    ...(random ? { random } : {}),
  });

  /** A site of its own owner that is paid into an account of that owner. */
  async function newPaidSite(given: Given & { rail?: 'own_key' | 'connect' } = {}) {
    const owner = await fixture.newCaller();
    const site = await fixture.newSite(owner);
    const account =
      given.rail === 'connect'
        ? await attachConnected(fixture, owner, site.id)
        : await attachAccount(fixture, owner, site.id, given);
    return { owner, site, account };
  }

  async function newPayment(more: Parameters<typeof newPaidSite>[0] = {}, input: object = {}) {
    const made = await newPaidSite(more);
    const body = { amount: 1250, currency: 'EUR', ...input };
    const answer = await made.owner.call('POST', `/v1/sites/${made.site.id}/payments`, { body });
    if (answer.status !== 200) throw new Error(`no payment was opened: ${answer.text}`);
    return { ...made, ...reading(made.owner, answer.body.id), payUrl: answer.body.pay_url as string };
  }

  const reading = (owner: Caller, id: string) => ({
    id,
    read: async () => (await owner.call('GET', `/v1/payments/${id}`)).body,
    statusOf: async () => (await owner.call('GET', `/v1/payments/${id}`)).body.status,
  });

  /** Opens the link: the provider's page that it leads to. */
  const openLink = async (payUrl: string) => {
    const { pathname } = new URL(payUrl);
    const answer = await fetch(`${api}${pathname}`, { redirect: 'manual' });
    const page = answer.headers.get('location');
    return { status: answer.status, page, text: page === null ? await answer.text() : '' };
  };

  /** Presses a button of the provider's page; follows to ours where it leads there. */
  const press = async (
    page: string | null,
    act: 'pay' | 'decline' | 'cancel' = 'pay',
    { comesBack = true, email = '' } = {},
  ) => {
    const body = new URLSearchParams({ email });
    const answer = await fetch(`${page}/${act}`, { method: 'POST', redirect: 'manual', body });
    const back = answer.headers.get('location');
    if (!comesBack || back === null) return { status: answer.status, text: '' };
    const ours = await fetch(`${api}${new URL(back).pathname}`);
    return { status: ours.status, text: await ours.text() };
  };

  /** What the provider holds of a payment: every charge that was made for it, and what of it is left. */
  const chargesOf = (paymentId: string) =>
    [...stub.stub.objects.values()]
      .filter((one) => one.object === 'payment_intent' && (one.metadata as { payment?: string }).payment === paymentId)
      .map((one) => one.latest_charge as { amount: number; amount_refunded: number });
  const heldFor = (paymentId: string) =>
    chargesOf(paymentId).reduce((sum, { amount, amount_refunded }) => sum + amount - amount_refunded, 0);

  const paying = {
    ...fixture,
    api,
    stub,
    newPaidSite,
    newPayment,
    reading,
    openLink,
    press,
    chargesOf,
    heldFor,
    async close() {
      await stub.close();
      await fixture.close();
    },
  };
  return paying;
}

/** Opens a paying fixture and its worker before the tests of a file, gives it to `take`, and closes both after them. */
export function usePayingFixture(
  take: (fixture: PayingFixture) => void,
  options?: Parameters<typeof startWorker>[1],
): void {
  let fixture: PayingFixture | undefined;
  let worker: Awaited<ReturnType<typeof startWorker>> | undefined;
  beforeAll(async () => {
    fixture = await createPayingFixture();
    take(fixture);
    worker = await startWorker(fixture.deps, options);
  });
  afterAll(async () => {
    await worker?.close();
    await fixture?.close();
  });
}
