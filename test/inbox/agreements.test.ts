/** Agreements that the other party has ended, in the inbox. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '#test/api/fixture.ts';
import { answered, createPayoutFixture, newAgreement, type PayoutFixture } from '#test/payouts/fixture.ts';
import { quickest } from '#test/stack/quickest.ts';
import { hear } from './fixture.ts';

let fixture: PayoutFixture;
beforeAll(async () => {
  fixture = await createPayoutFixture();
});
afterAll(() => fixture?.close());

const itemsOf = async (caller: Caller) => (await caller.call('GET', '/v1/inbox')).body.items;

test('the site’s owner sees that its payout account is gone, until it has another', async () => {
  const { owner, payee, site, account } = await newAgreement(fixture);
  answered(await fixture.end(payee, site.id));
  expect(await itemsOf(payee)).toEqual([]);
  const items = await itemsOf(owner);
  expect(items).toMatchObject([
    {
      kind: 'agreement_ended',
      site: { id: site.id, hostname: fixture.hostOf(site) },
      who: null,
      title: `The payout account “${account.name}” was disconnected from ${fixture.hostOf(site)}, which cannot accept payments until it has another one.`,
      next_action: expect.stringContaining(`POST /v1/sites/${site.id}/payout-account`),
    },
  ]);
  answered(await fixture.attach(owner, site.id, (await fixture.newAccount(owner)).id));
  expect(await itemsOf(owner)).toEqual([]);
});

test('the payout account’s owner sees that a site has left, until it is done', async () => {
  const { owner, payee, site, account } = await newAgreement(fixture);
  answered(await fixture.end(owner, site.id));
  expect(await itemsOf(owner)).toEqual([]);
  const [item, ...others] = await itemsOf(payee);
  expect(others).toEqual([]);
  expect(item).toMatchObject({
    kind: 'agreement_ended',
    site: { hostname: fixture.hostOf(site) },
    title: `${fixture.hostOf(site)} no longer uses your payout account “${account.name}”.`,
  });
  const done = await payee.call('POST', '/v1/inbox/done', { body: { items: [{ kind: item.kind, id: item.id }] } });
  expect(done.status).toBe(200);
  expect(await itemsOf(payee)).toEqual([]);
});

test('a party of both sides, and a token without payouts, see no ended agreement', async () => {
  const owner = await fixture.newCaller();
  const site = await fixture.newSite(owner);
  answered(await fixture.attach(owner, site.id, (await fixture.newAccount(owner)).id));
  answered(await fixture.end(owner, site.id));
  expect(await itemsOf(owner)).toEqual([]);
  const pair = await newAgreement(fixture);
  answered(await fixture.end(pair.payee, pair.site.id));
  const { body } = await pair.owner.call('POST', '/v1/tokens', { body: { name: 'narrow' } });
  const narrow = await fetch(`${fixture.url}/v1/inbox`, { headers: { authorization: `Bearer ${body.access_token}` } });
  expect(((await narrow.json()) as { items: unknown[] }).items).toEqual([]);
  expect(await itemsOf(pair.owner)).toHaveLength(1);
});

test('a waiting call returns within a second of the end of an agreement', async () => {
  for (const side of ['owner', 'payee'] as const) {
    const ms = await quickest(1_000, async () => {
      const pair = await newAgreement(fixture);
      const other = side === 'owner' ? 'payee' : 'owner';
      return await hear(fixture, pair[side], 'agreement_ended', () => fixture.end(pair[other], pair.site.id));
    });
    expect([side, ms < 1_000]).toEqual([side, true]);
  }
});
