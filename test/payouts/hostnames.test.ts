/** The hostnames by which a payout owner names a site. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Domain } from '#db/domains/domain.ts';
import { answered, createPayoutFixture, outcome, type PayoutFixture } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

test('a site is found by its attached domains, and not by former ones', async () => {
  const { owner, payee, site, account } = await fixture.newPair();
  const em = fixture.deps.em();
  const now = fixture.clock.now();
  const name = `${site.name}.example`;
  const domain = em.create(Domain, {
    id: `dom_${site.name}`,
    account: owner.accountId,
    name,
    registrable: name,
    mode: 'cname',
    status: 'active',
    statusSince: now,
    proof: name,
    pair: name,
    provedAt: now,
    site: site.id,
    isPrimary: true,
    attachedAt: now,
    nextCheckAt: now,
    createdAt: now,
  });
  await em.flush();
  const offer = answered(await fixture.offerFromAccount(payee, account.id, name));
  expect(offer.site.id).toBe(site.id);
  answered(await fixture.endOffer(payee, offer.id));
  Object.assign(domain, { site: null, isPrimary: false, attachedAt: null });
  await em.flush();
  expect(outcome(await fixture.offerFromAccount(payee, account.id, name))).toBe('invalid_payout_offer');
});
