/** Which payout account a site pays into, and how that ends. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/world.ts';
import { answered, createPayoutWorld, outcome, type PayoutWorld } from './world.ts';

let world: PayoutWorld;
beforeAll(async () => {
  world = await createPayoutWorld();
});
afterAll(() => world?.close());

/** A site that pays into somebody else's account. */
async function newAgreement() {
  const pair = await world.newPair();
  const offer = answered(await world.offerFromSite(pair.owner, pair.site.id, pair.account.id));
  answered(await world.accept(pair.payee, offer.id));
  return { ...pair, offer };
}

test('an owner attaches his own account to his site, and the same again changes nothing', async () => {
  const owner = await world.newCaller();
  const [site, account] = [await world.newSite(owner), await world.newAccount(owner)];
  expect(errorOf(await world.agreement(owner, site.id)).code).toBe('no_payout_account');
  const attached = answered(await world.attach(owner, site.id, account.id));
  expect(attached).toMatchObject({ status: 'standing', payout_account: { id: account.id } });
  expect(answered(await world.attach(owner, site.id, account.id))).toEqual(attached);
  const other = await world.newAccount(owner);
  expect(outcome(await world.attach(owner, site.id, other.id))).toBe('invalid_payout_account');
  answered(await world.end(owner, site.id));
  expect(answered(await world.attach(owner, site.id, other.id)).payout_account.id).toBe(other.id);
});

test('attaching takes what is not the caller’s own for what is not there, and ends an offer that is open', async () => {
  const { owner, payee, site, account } = await world.newPair();
  expect(outcome(await world.attach(owner, site.id, account.id))).toBe('invalid_payout_account');
  expect(outcome(await world.attach(owner, site.id, 'x'))).toBe('invalid_payout_account');
  const offer = answered(await world.offerFromAccount(payee, account.id, world.hostOf(site)));
  answered(await world.attach(owner, site.id, (await world.newAccount(owner)).id));
  expect(outcome(await world.read(payee, offer.id))).toBe('withdrawn');
});

test('an agreement is ended by the owner of the site, or by the owner of the payout account who is not on the site', async () => {
  for (const side of ['site', 'payout_account'] as const) {
    const { owner, payee, site, account } = await newAgreement();
    expect((await payee.call('GET', `/v1/sites/${site.id}`)).status).toBe(404);
    const ended = answered(await world.end(side === 'site' ? owner : payee, site.id));
    expect(ended).toMatchObject({ status: 'ended', ended_by: side, payout_account: { id: account.id } });
    expect(outcome(await world.end(owner, site.id))).toBe('no_payout_account');
    // With the agreement went what he knew of the site.
    expect(outcome(await world.end(payee, site.id))).toBe('not_found');
    expect((await payee.call('GET', `${world.accounts}/${account.id}/sites`)).body.items).toEqual([]);
  }
});

test('who is neither ends nothing and learns nothing', async () => {
  const { site } = await newAgreement();
  const stranger = await world.newCaller();
  expect(outcome(await world.end(stranger, site.id))).toBe('not_found');
  expect(outcome(await world.end(stranger, 'site_01h455vb4pex5vsknk084sn02q'))).toBe('not_found');
  expect(outcome(await world.agreement(stranger, site.id))).toBe('not_found');
});

test('the owner of the payout account ends the agreement of an archived site too, and its owner does not', async () => {
  const { owner, payee, site } = await newAgreement();
  answered(await owner.call('POST', `/v1/sites/${site.id}/archive`));
  expect(outcome(await world.end(owner, site.id))).toBe('site_archived');
  expect(outcome(await world.end(payee, site.id))).toBe('ended');
});

test('a payout account that is removed ends what was agreed and what was offered with it', async () => {
  const { owner, payee, site, account } = await newAgreement();
  const elsewhere = await world.newSite(owner);
  const offer = answered(await world.offerFromSite(owner, elsewhere.id, account.id));
  const gone = answered(await payee.call('DELETE', `${world.accounts}/${account.id}`));
  expect(gone).toMatchObject({ status: 'gone', sites: 0, waiting_for: [] });
  expect(outcome(await world.agreement(owner, site.id))).toBe('no_payout_account');
  expect(outcome(await world.read(owner, offer.id))).toBe('withdrawn');
  expect(outcome(await world.accept(payee, offer.id))).toBe('invalid_payout_offer');
  expect(outcome(await world.offerFromAccount(payee, account.id, world.hostOf(site)))).toBe('payout_account_gone');
  expect(outcome(await world.offerFromSite(owner, site.id, account.id))).toBe('invalid_payout_account');
  expect(outcome(await world.attach(payee, (await world.newSite(payee)).id, account.id))).toBe('payout_account_gone');
});
