/** The payout account of a site, and how an agreement ends. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { answered, createPayoutFixture, newAgreement, outcome, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

test('an acceptance whose answer was lost is answered when it is sent again', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const { id } = answered(await fixture.offerFromSite(owner, site.id, account.id));
  const accept = (key: string, caller = payee) =>
    caller.call('POST', `/v1/payout-offers/${id}/accept`, { headers: { 'idempotency-key': key } });
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await accept('lost')).status).toBe(500);
  restore();
  expect(outcome(await accept('lost'))).toBe('accepted');
  for (const other of [await accept('another'), await accept('lost', owner)])
    expect(outcome(other)).toBe('offer_already_accepted');
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('an attachment whose answer was lost is not made again after its end', async () => {
  const owner = await fixture.newCaller();
  const [site, account] = [await fixture.newSite(owner), await fixture.newAccount(owner)];
  const sent = { body: { payout_account_id: account.id }, headers: { 'idempotency-key': 'attached' } };
  const attach = () => owner.call('POST', `/v1/sites/${site.id}/payout-account`, sent);
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await attach()).status).toBe(500);
  restore();
  expect((await fixture.end(owner, site.id)).status).toBe(200);
  for (let times = 0; times < 2; times++) expect(errorOf(await attach()).code).toBe('no_payout_account');
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('an owner attaches their own account, and repeating it changes nothing', async () => {
  const owner = await fixture.newCaller();
  const [site, account] = [await fixture.newSite(owner), await fixture.newAccount(owner)];
  expect(errorOf(await fixture.agreement(owner, site.id)).code).toBe('no_payout_account');
  const attached = answered(await fixture.attach(owner, site.id, account.id));
  expect(attached).toMatchObject({ status: 'active', payout_account: { id: account.id } });
  expect(answered(await fixture.attach(owner, site.id, account.id))).toEqual(attached);
  const other = await fixture.newAccount(owner);
  expect(outcome(await fixture.attach(owner, site.id, other.id))).toBe('invalid_payout_account');
  answered(await fixture.end(owner, site.id));
  expect(answered(await fixture.attach(owner, site.id, other.id)).payout_account.id).toBe(other.id);
});

test('attaching a foreign account is not found, and attaching ends an open offer', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  expect(outcome(await fixture.attach(owner, site.id, account.id))).toBe('invalid_payout_account');
  expect(outcome(await fixture.attach(owner, site.id, 'x'))).toBe('invalid_payout_account');
  const offer = answered(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)));
  answered(await fixture.attach(owner, site.id, (await fixture.newAccount(owner)).id));
  expect(outcome(await fixture.read(payee, offer.id))).toBe('withdrawn');
});

test('the site’s owner or the payout account’s owner ends an agreement', async () => {
  for (const side of ['site', 'payout_account'] as const) {
    const { owner, payee, site, account } = await newAgreement(fixture);
    expect((await payee.call('GET', `/v1/sites/${site.id}`)).status).toBe(404);
    const ended = answered(await fixture.end(side === 'site' ? owner : payee, site.id));
    expect(ended).toMatchObject({ status: 'ended', ended_by: side, payout_account: { id: account.id } });
    expect(outcome(await fixture.end(owner, site.id))).toBe('no_payout_account');
    // With the agreement went what he knew of the site.
    expect(outcome(await fixture.end(payee, site.id))).toBe('not_found');
    expect((await payee.call('GET', `${fixture.accounts}/${account.id}/sites`)).body.items).toEqual([]);
  }
});

test('a stranger ends nothing and learns nothing', async () => {
  const { site } = await newAgreement(fixture);
  const stranger = await fixture.newCaller();
  expect(outcome(await fixture.end(stranger, site.id))).toBe('not_found');
  expect(outcome(await fixture.end(stranger, 'site_01h455vb4pex5vsknk084sn02q'))).toBe('not_found');
  expect(outcome(await fixture.agreement(stranger, site.id))).toBe('not_found');
});

test('the payout account’s owner ends an archived site’s agreement, its owner cannot', async () => {
  const { owner, payee, site } = await newAgreement(fixture);
  answered(await owner.call('POST', `/v1/sites/${site.id}/archive`));
  expect(outcome(await fixture.end(owner, site.id))).toBe('site_archived');
  expect(outcome(await fixture.end(payee, site.id))).toBe('ended');
});

test('removing a payout account ends its agreements and offers', async () => {
  const { owner, payee, site, account } = await newAgreement(fixture);
  const elsewhere = await fixture.newSite(owner);
  const offer = answered(await fixture.offerFromSite(owner, elsewhere.id, account.id));
  const gone = answered(await payee.call('DELETE', `${fixture.accounts}/${account.id}`));
  expect(gone).toMatchObject({ status: 'gone', sites: 0, waiting_for: [] });
  expect(outcome(await fixture.agreement(owner, site.id))).toBe('no_payout_account');
  expect(outcome(await fixture.read(owner, offer.id))).toBe('withdrawn');
  expect(outcome(await fixture.accept(payee, offer.id))).toBe('invalid_payout_offer');
  expect(outcome(await fixture.offerFromAccount(payee, account.id, fixture.hostOf(site)))).toBe('payout_account_gone');
  expect(outcome(await fixture.offerFromSite(owner, site.id, account.id))).toBe('invalid_payout_account');
  expect(outcome(await fixture.attach(payee, (await fixture.newSite(payee)).id, account.id))).toBe(
    'payout_account_gone',
  );
});
