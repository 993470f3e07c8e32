/** Removing a payout account closes open pages while its key still exists. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { actorOf } from '#api/access.ts';
import { createPayment } from '#api/payments/rules.ts';
import { removePayoutAccount } from '#api/payouts/removal.ts';
import { agreementOf } from '#db/payouts/credentials.ts';
import { endAgreements } from '#db/payouts/offer-transitions.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { newId } from '#runtime/ids.ts';
import { callWith } from '#test/api/fixture.ts';
import { setForTest } from '#test/stack/for-test.ts';
import { createNamespace, startWorker } from '#test/stack/worker.ts';
import { answered, createPayoutFixture, outcome, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
let worker: Awaited<ReturnType<typeof startWorker>>;
beforeAll(async () => {
  fixture = await createPayoutFixture({ TEMPORAL_NAMESPACE: await createNamespace() });
  worker = await startWorker(fixture.deps, {});
});
afterAll(async () => {
  await worker?.close();
  await fixture?.close();
});

/** A site that pays into its owner's account, and a payer who has the provider's page open. */
async function newPayer() {
  const owner = await fixture.newCaller();
  const [site, account] = [await fixture.newSite(owner), await fixture.newAccount(owner)];
  answered(await fixture.attach(owner, site.id, account.id));
  const input = { amount: 1250, currency: 'EUR' };
  const payment = answered(await owner.call('POST', `/v1/sites/${site.id}/payments`, { body: input }));
  const open = () => callWith(fixture.url)('GET', new URL(payment.pay_url).pathname);
  const page = (await open()).headers.get('location') ?? '';
  const pay = async () => (await fetch(`${page}/pay`, { method: 'POST', redirect: 'manual' })).status;
  const statusOf = async () => (await owner.call('GET', `/v1/payments/${payment.id}`)).body.status;
  return { owner, site, account, payment, open, pay, statusOf };
}

test('removing a payout account closes its pages before it destroys the key', async () => {
  const { owner, account, open, pay, statusOf } = await newPayer();
  const headers = { prefer: 'respond-async' };
  expect(outcome(await owner.call('DELETE', `${fixture.accounts}/${account.id}`, { headers }))).toBe('gone');
  expect(await pay()).toBe(410);
  expect(await statusOf()).toBe('expired');
  expect((await open()).status).toBe(410);
  const row = await fixture.deps.em().findOneOrFail(PayoutAccount, { id: account.id });
  expect(row.sealedKey).toBe(null);
}, 30_000);

test('a page opened during a removal ends with it', async () => {
  const { owner, site, account, pay } = await newPayer();
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const removal = owner.call('DELETE', `${fixture.accounts}/${account.id}`);
  await expect.poll(async () => agreementOf(fixture.deps.em(), site)).toBe(null);
  answered(await fixture.attach(owner, site.id, account.id));
  const input = { amount: 900, currency: 'EUR' };
  const late = answered(await owner.call('POST', `/v1/sites/${site.id}/payments`, { body: input }));
  fixture.stub.knobs.turnAway = 0;
  expect(outcome(await removal)).toBe('gone');
  expect((await owner.call('GET', `/v1/payments/${late.id}`)).body.status).toBe('expired');
  expect(await agreementOf(fixture.deps.em(), site)).toBe(null);
  expect(await pay()).toBe(410);
}, 30_000);

test.each(['ends', 'is removed'])(
  'a payment being opened while its account %s ends with it',
  async (way) => {
    const { owner, site, account } = await newPayer();
    const actor = actorOf(owner.accountId, '');
    const input = { amount: 900, currency: 'EUR' };
    const id = newId('pay');
    let isOver = false;
    const [, ending] = await fixture.deps.em().transactional(async (tx) => {
      await createPayment(tx, fixture.deps, actor, { id, siteId: site.id, input });
      const act =
        way === 'ends' ? fixture.end(owner, site.id) : owner.call('DELETE', `${fixture.accounts}/${account.id}`);
      const ends = act.finally(() => {
        isOver = true;
      });
      const waits = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
      await expect.poll(async () => isOver || (await fixture.deps.em().execute(waits)).length > 0).toBe(true);
      return [await tx.flush(), () => ends] as const;
    });
    expect((await ending()).status).toBe(200);
    expect((await owner.call('GET', `/v1/payments/${id}`)).body.status).toBe('expired');
  },
  30_000,
);

test('an agreement that ends closes its site’s pages', async () => {
  const { owner, site, pay, statusOf, open } = await newPayer();
  expect(outcome(await fixture.end(owner, site.id))).toBe('ended');
  expect(await statusOf()).toBe('expired');
  await expect.poll(async () => (await open()).status).toBe(410);
  const closed = async () =>
    (
      await fixture.deps
        .em()
        .execute(
          `select 1 from payment_attempt a join payment p on p.id = a.payment_id where p.site_id = ? and a.status = 'open'`,
          [site.id],
        )
    ).length;
  await expect.poll(closed, { timeout: 20_000, interval: 50 }).toBe(0);
  expect(await pay()).toBe(410);
}, 30_000);

test('a payment without an agreement redirects nowhere, before any cleanup', async () => {
  const { site, open } = await newPayer();
  const id = (await agreementOf(fixture.deps.em(), site))?.id ?? '';
  await endAgreements(fixture.deps.em(), { id }, { by: 'site', now: fixture.clock.now() });
  expect((await open()).status).toBe(410);
}, 30_000);

test('without the provider, the key is destroyed all the same', async () => {
  const { owner, account } = await newPayer();
  setForTest(fixture.stub.knobs, { turnAway: 1 });
  const person = actorOf(owner.accountId, '');
  const removed = await removePayoutAccount(fixture.deps.em(), fixture.deps, person, account.id, 400);
  fixture.stub.knobs.turnAway = 0;
  expect(removed.status).toBe('gone');
  const row = await fixture.deps.em().findOneOrFail(PayoutAccount, { id: account.id });
  expect(row.sealedKey).toBe(null);
}, 30_000);
