/** Offers between sites and payout accounts: who may make and accept them. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Caller, errorOf, limitsIn } from '#test/api/fixture.ts';
import { answered, createPayoutFixture, outcome, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

const dayMs = 24 * 3600_000;
const waiting = async (caller: Caller) => (await caller.call('GET', '/v1/payout-offers')).body.items;
const counted = async (caller: Caller) => (await caller.call('GET', '/v1/account')).body.offers_to_answer;

test('the payout account’s owner accepts a site’s offer, and the site pays into it', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
  expect(offer).toEqual({
    id: expect.stringMatching(/^offer_/),
    site: { id: site.id, hostname: fixture.hostOf(site) },
    payout_account: { id: account.id, name: null },
    opened_by: 'site',
    status: 'open',
    yours_to_answer: false,
    created_at: expect.any(String),
    expires_at: new Date(Date.parse(offer.created_at) + 14 * dayMs).toISOString(),
    next_action: expect.stringContaining('Tell the other party'),
  });
  expect(await waiting(owner)).toEqual([]);
  const named = { id: account.id, name: 'Bakery' };
  expect(await waiting(payee)).toMatchObject([{ id: offer.id, yours_to_answer: true, payout_account: named }]);
  expect(outcome(await fixture.accept(payee, offer.id))).toBe('accepted');
  expect(answered(await fixture.agreement(owner, site.id))).toEqual({
    site: offer.site,
    payout_account: named,
    status: 'active',
    since: expect.any(String),
    ended_at: null,
    ended_by: null,
  });
  const { items } = answered(await payee.call('GET', `${fixture.accounts}/${account.id}/sites`));
  expect(items).toMatchObject([{ site: offer.site, status: 'active' }]);
  expect((await fixture.list(payee))[0]).toMatchObject({ id: account.id, sites: 1 });
  const { body } = await fixture.read(owner, offer.id);
  expect(body).toMatchObject({ status: 'accepted', yours_to_answer: false, payout_account: named });
});

test('an offer from outside names the hostname, and the site’s owner accepts it', async () => {
  for (const write of [
    (host: string) => host,
    (host: string) => host.toUpperCase(),
    (host: string) => `https://${host}/about?x=1`,
    (host: string) => `${host}.:8080`,
  ]) {
    const { owner, payee, site, account } = await fixture.newPair();
    const offer = answered(await fixture.offerFromAccount(payee, account.id, write(fixture.hostOf(site))));
    expect(offer).toMatchObject({ opened_by: 'payout_account', site: { id: site.id }, yours_to_answer: false });
    expect(await waiting(owner)).toMatchObject([{ yours_to_answer: true, payout_account: { name: 'Bakery' } }]);
    expect(outcome(await fixture.accept(owner, offer.id))).toBe('accepted');
  }
});

test('a site has one open offer or agreement; another is invalid_payout_offer', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const other = await fixture.newAccount(payee, 'Other');
  const first = answered(await fixture.offerFromSite(owner, site.id, account.id));
  expect(outcome(await fixture.offerFromSite(owner, site.id, other.id))).toBe('invalid_payout_offer');
  expect(outcome(await fixture.offerFromAccount(payee, other.id, fixture.hostOf(site)))).toBe('invalid_payout_offer');
  answered(await fixture.accept(payee, first.id));
  expect(outcome(await fixture.offerFromSite(owner, site.id, other.id))).toBe('invalid_payout_offer');
  expect(outcome(await fixture.offerFromAccount(payee, other.id, fixture.hostOf(site)))).toBe('invalid_payout_offer');
  await expect(
    fixture.deps
      .em()
      .execute(`insert into payout_agreement (id, site_id, payout_account_id, began_at) values ('agr_x', ?, ?, ?)`, [
        site.id,
        other.id,
        fixture.clock.now(),
      ]),
  ).rejects.toThrow(/payout_agreement_one_open/);
});

test('strangers’ offers never block the owner’s, or each other', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const stranger = await fixture.newCaller();
  const pushy = await fixture.newAccount(stranger, 'Pushy');
  const unasked = answered(await fixture.offerFromAccount(stranger, pushy.id, fixture.hostOf(site)));
  expect(outcome(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)))).toBe('invalid_payout_offer');
  const own = answered(await fixture.offerFromSite(owner, site.id, account.id));
  expect(outcome(await fixture.read(stranger, unasked.id))).toBe('withdrawn');
  expect(outcome(await fixture.accept(owner, unasked.id))).toBe('invalid_payout_offer');
  expect(outcome(await fixture.accept(payee, own.id))).toBe('accepted');
});

test('a repeated offer names the existing one to its parties alone', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const stranger = await fixture.newCaller();
  const pushy = await fixture.newAccount(stranger, 'Pushy');
  const again = async (caller: typeof payee, id: string) =>
    errorOf(await fixture.offerFromAccount(caller, id, fixture.hostOf(site)));
  const first = answered(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)));
  expect((await again(payee, account.id)).next_action).toContain(first.id);
  const asStranger = await again(stranger, pushy.id);
  answered(await fixture.accept(owner, first.id));
  expect((await again(payee, account.id)).next_action).toContain(`${account.id}/sites`);
  expect(await again(stranger, pushy.id)).toEqual(asStranger);
  expect(JSON.stringify(asStranger)).not.toMatch(/offer_|already/);
});

test('only the other party answers an offer, and once', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
  expect(outcome(await fixture.accept(owner, offer.id))).toBe('not_yours_to_answer');
  answered(await fixture.accept(payee, offer.id));
  for (const caller of [payee, owner]) {
    const again = errorOf(await fixture.accept(caller, offer.id));
    expect(again.code).toBe('offer_already_accepted');
    expect(again.next_action).toContain(`DELETE /v1/sites/${site.id}/payout-account`);
    expect(outcome(await fixture.endOffer(caller, offer.id))).toBe('offer_already_accepted');
  }
});

test('an offer expires after 14 days for every reader, before any write', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
  fixture.skip(14 * dayMs - 60_000);
  expect(await counted(payee)).toBe(1);
  fixture.skip(60_000);
  expect(await fixture.deps.em().execute('select status from payout_offer where id = ?', [offer.id])).toEqual([
    { status: 'open' },
  ]);
  expect(await counted(payee)).toBe(0);
  expect(await waiting(payee)).toEqual([]);
  expect(outcome(await fixture.accept(payee, offer.id))).toBe('offer_expired');
  expect(outcome(await fixture.read(payee, offer.id))).toBe('expired');
  expect(outcome(await fixture.endOffer(owner, offer.id))).toBe('expired');
  expect(outcome(await fixture.offerFromSite(owner, site.id, account.id))).toBe('open');
});

test('a withdrawn or declined offer cannot be accepted', async () => {
  for (const who of ['opener', 'other'] as const) {
    const { owner, payee, site, account } = await fixture.newPair();
    const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
    const caller = who === 'opener' ? owner : payee;
    expect(outcome(await fixture.endOffer(caller, offer.id))).toBe('withdrawn');
    expect(outcome(await fixture.endOffer(caller, offer.id))).toBe('withdrawn');
    // Whose turn it was does not matter any more.
    for (const one of [owner, payee])
      expect(errorOf(await fixture.accept(one, offer.id)).message).toContain('was withdrawn or declined');
    expect(outcome(await fixture.accept(payee, offer.id))).toBe('invalid_payout_offer');
    expect(outcome(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)))).toBe('open');
  }
});

test('offers send no mail: they are counted, listed, and in the inbox', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const mails = async () => (await fixture.deps.em().execute('select id from mail')).length;
  const before = await mails();
  expect(await counted(payee)).toBe(0);
  const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
  expect([await counted(payee), await counted(owner)]).toEqual([1, 0]);
  const item = { kind: 'payout_offer', site: { id: site.id, hostname: fixture.hostOf(site) }, slot: null, who: null };
  expect(answered(await payee.call('GET', '/v1/inbox')).items).toMatchObject([{ ...item, id: offer.id }]);
  expect(answered(await owner.call('GET', '/v1/inbox')).items).toEqual([]);
  answered(await fixture.accept(payee, offer.id));
  expect(await counted(payee)).toBe(0);
  expect(await mails()).toBe(before);
});

describe('a stranger', () => {
  test('does not see an offer, and a collaborator has no part in it', async () => {
    const { owner, payee, site, account } = await fixture.newPair();
    const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
    const helper = await fixture.newCollaborator(owner, site.id);
    for (const caller of [await fixture.newCaller(), helper]) {
      expect(outcome(await fixture.read(caller, offer.id))).toBe('not_found');
      expect(outcome(await fixture.accept(caller, offer.id))).toBe('not_found');
      expect(outcome(await fixture.endOffer(caller, offer.id))).toBe('not_found');
    }
    const own = await fixture.newAccount(helper);
    expect(outcome(await fixture.offerFromSite(helper, site.id, account.id))).toBe('owner_only');
    expect(outcome(await fixture.attach(helper, site.id, own.id))).toBe('owner_only');
    expect(outcome(await fixture.agreement(helper, site.id))).toBe('owner_only');
    expect(outcome(await fixture.end(helper, site.id))).toBe('owner_only');
    expect(outcome(await fixture.accept(payee, offer.id))).toBe('accepted');
    expect(outcome(await fixture.end(helper, site.id))).toBe('owner_only');
  });

  test('cannot tell a site with payments from one with an offer', async () => {
    const [one, two] = [await fixture.newPair(), await fixture.newPair()];
    answered(await fixture.offerFromSite(one.owner, one.site.id, one.account.id));
    answered(await fixture.attach(two.owner, two.site.id, (await fixture.newAccount(two.owner)).id));
    const stranger = await fixture.newCaller();
    const { id } = await fixture.newAccount(stranger);
    const told = [one, two].map(async ({ site }) =>
      errorOf(await fixture.offerFromAccount(stranger, id, fixture.hostOf(site))),
    );
    const [first, second] = await Promise.all(told);
    expect(second).toEqual(first);
  });

  test('cannot offer to unknown, own or missing parties', async () => {
    const { owner, payee, site, account } = await fixture.newPair();
    for (const host of ['nobody.example.com', `no-such-site.${fixture.config.baseDomain}`, '::', 'x y']) {
      expect(outcome(await fixture.offerFromAccount(payee, account.id, host))).toBe('invalid_payout_offer');
    }
    const own = await fixture.newAccount(owner);
    expect(outcome(await fixture.offerFromAccount(owner, own.id, fixture.hostOf(site)))).toBe('invalid_payout_offer');
    expect(outcome(await fixture.offerFromSite(owner, site.id, own.id))).toBe('invalid_payout_offer');
    expect(outcome(await fixture.offerFromSite(owner, site.id, 'pout_01h455vb4pex5vsknk084sn02q'))).toBe(
      'invalid_payout_account',
    );
    expect(outcome(await fixture.offerFromAccount(owner, account.id, fixture.hostOf(site)))).toBe('not_found');
  });
});

test('an archived site neither opens nor accepts offers', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const offer = answered(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)));
  answered(await owner.call('POST', `/v1/sites/${site.id}/archive`));
  expect(outcome(await fixture.accept(owner, offer.id))).toBe('site_archived');
  expect(await counted(owner)).toBe(0);
  expect(outcome(await fixture.endOffer(payee, offer.id))).toBe('withdrawn');
  expect(outcome(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)))).toBe('site_archived');
  expect(outcome(await fixture.offerFromSite(owner, site.id, account.id))).toBe('site_archived');
  expect(outcome(await fixture.attach(owner, site.id, (await fixture.newAccount(owner)).id))).toBe('site_archived');
});

test('an account opens as many offers at a time as its cap', async () => {
  const { payee, account } = await fixture.newPair();
  const limit = limitsIn(fixture.config).open_payout_offers;
  const sites = await Promise.all(
    Array.from({ length: limit + 1 }, async () => fixture.newSite(await fixture.newCaller())),
  );
  const told = [];
  for (const site of sites) told.push(outcome(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site))));
  expect(told).toEqual([...Array(limit).fill('open'), 'plan_limit']);
});

test('a repeated call returns the offer that it created', async () => {
  const { owner, site, account } = await fixture.newPair();
  const ask = () =>
    owner.call('POST', `/v1/sites/${site.id}/payout-offers`, {
      body: { payout_account_id: account.id },
      headers: { 'idempotency-key': 'the-same' },
    });
  const [one, two] = [answered(await ask()), answered(await ask())];
  expect(two).toEqual(one);
});
