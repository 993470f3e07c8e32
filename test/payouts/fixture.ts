/** The platform with payouts switched on, at a stand-in for the provider. */

import { type Answer, type Caller, createFixture, errorOf, type Fixture } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { findMock } from '#tools/local/payments/stripe-mock.ts';
import { startPaymentsStub } from '#tools/local/payments/stub.ts';

export type PayoutFixture = Awaited<ReturnType<typeof createPayoutFixture>>;

const platformKey = 'sk_test_platform0000';
const webhookSecret = 'whsec_of_the_tests';

export async function createPayoutFixture(
  env: Record<string, string> = {},
  options: Parameters<typeof createFixture>[1] = {},
) {
  let fixture: Fixture | undefined;
  const clock = { now: () => fixture?.clock.now() ?? new Date() };
  const connect = { url: '', secret: webhookSecret };
  const stub = await startPaymentsStub({
    clock,
    key: platformKey,
    mock: findMock(process.env),
    hooks: { connect },
  });
  fixture = await createFixture(
    {
      FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9',
      FRONTAGE_PAYOUT_RAILS: 'own_key,connect',
      FRONTAGE_PAYMENTS_KEY: platformKey,
      FRONTAGE_PAYMENTS_URL: stub.url,
      FRONTAGE_PAYMENTS_WEBHOOK_SECRET: webhookSecret,
      ...env,
    },
    options,
  );
  connect.url = `${fixture.url}/hooks/payments`;
  return {
    ...fixture,
    stub,
    ...payouts(fixture),
    async close() {
      await fixture.close();
      await stub.close();
    },
  };
}

let keys = 0;
/** A restricted key that no other test has. What follows the name says what its account is: see the stand-in. */
export const newKey = (what = '') => `rk_test_${what}${process.pid}x${String(++keys).padStart(8, '0')}`;

/** What tests of payouts do in a fixture. */
export function payouts(fixture: Pick<Fixture, 'deps' | 'clock' | 'newCaller' | 'config'>) {
  const ask = people(fixture);
  const accounts = '/v1/account/payout-accounts';

  const add = (owner: Caller, body: unknown = { secret_key: newKey() }) => owner.call('POST', accounts, { body });
  const list = async (owner: Caller) => (await owner.call('GET', accounts)).body.items;
  /** A payout account of this owner that takes money. */
  async function newAccount(owner: Caller, name = 'Bakery'): Promise<{ id: string; name: string }> {
    return answered(await add(owner, { name, secret_key: newKey() }));
  }
  const hostOf = ({ name }: { name: string }) => `${name}.${fixture.config.baseDomain}`;

  const offerFromSite = (owner: Caller, siteId: string, payoutAccountId: string) =>
    owner.call('POST', `/v1/sites/${siteId}/payout-offers`, { body: { payout_account_id: payoutAccountId } });
  const offerFromAccount = (owner: Caller, payoutAccountId: string, hostname: string) =>
    owner.call('POST', `${accounts}/${payoutAccountId}/offers`, { body: { hostname } });
  const read = (caller: Caller, id: string) => caller.call('GET', `/v1/payout-offers/${id}`);
  const accept = (caller: Caller, id: string) => caller.call('POST', `/v1/payout-offers/${id}/accept`);
  const endOffer = (caller: Caller, id: string) => caller.call('DELETE', `/v1/payout-offers/${id}`);
  const attach = (owner: Caller, siteId: string, payoutAccountId: string) =>
    owner.call('POST', `/v1/sites/${siteId}/payout-account`, { body: { payout_account_id: payoutAccountId } });
  const agreement = (owner: Caller, siteId: string) => owner.call('GET', `/v1/sites/${siteId}/payout-account`);
  const end = (caller: Caller, siteId: string) => caller.call('DELETE', `/v1/sites/${siteId}/payout-account`);

  /** A site, its owner, and somebody else with a payout account. */
  async function newPair() {
    const [owner, payee] = [await fixture.newCaller(), await fixture.newCaller()];
    return { owner, payee, site: await ask.newSite(owner), account: await newAccount(payee) };
  }

  return {
    ...ask,
    ...{ accept, newCollaborator: ask.newCollaborator },
    acceptInvitation: ask.accept,
    ...{
      accounts,
      add,
      list,
      newAccount,
      hostOf,
      offerFromSite,
      offerFromAccount,
      read,
      endOffer,
      attach,
      agreement,
      end,
      newPair,
    },
  };
}

/** The body of an answer that has to be good. */
/** A site that pays into somebody else's account. */
export async function newAgreement(fixture: PayoutFixture) {
  const pair = await fixture.newPair();
  const offer = answered(await fixture.offerFromSite(pair.owner, pair.site.id, pair.account.id));
  answered(await fixture.accept(pair.payee, offer.id));
  return { ...pair, offer };
}

export function answered({ status, body, text }: Answer) {
  if (status !== 200) throw new Error(`refused: ${text}`);
  return body;
}

/** What an answer comes to in one word: the status that it shows, or the code. */
export const outcome = (answer: Answer): string => (answer.status === 200 ? answer.body.status : errorOf(answer).code);

export function tally(words: string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const word of words) counts[word] = (counts[word] ?? 0) + 1;
  return counts;
}
