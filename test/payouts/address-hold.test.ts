/** For 72 hours after a change of an account's address, nothing of it is deleted and its money goes nowhere else. */
import { afterAll, expect, test } from 'vitest';
import { answerLink } from '#api/accounts/address-links.ts';
import { hashCode } from '#api/auth/codes.ts';
import { hashSecret } from '#api/secrets.ts';
import { type Answer, callWith, createSite, errorOf } from '#test/api/fixture.ts';
import { answered, createPayoutFixture, newKey, outcome } from './fixture.ts';

const fixture = await createPayoutFixture();
afterAll(() => fixture.close());
const hourMs = 3600_000;

/** As if both mailboxes had just confirmed a change. */
async function changeAddress(accountId: string) {
  const now = fixture.clock.now();
  await fixture.deps.em().execute(
    `insert into email_change (id, account_id, email, old_email, hash, status, old_confirmed_at, created_at, expires_at)
     values (?, ?, 'new@example.com', ?, ?, 'confirmed', ?, ?, ?)`,
    [
      `addr_${accountId}`,
      accountId,
      `${accountId}@example.com`,
      Buffer.from(accountId),
      now,
      now,
      new Date(now.getTime() + 72 * hourMs),
    ],
  );
}
const codeOf = (answer: Answer) => [answer.status, errorOf(answer).code];
const pending = [409, 'address_change_pending'];

test('payout accounts and sites stay as they are for 72 hours', async () => {
  const owner = await fixture.newCaller();
  const [site, old, third] = [await createSite(owner), await createSite(owner), await createSite(owner)];
  const account = await fixture.newAccount(owner);
  const spare = await fixture.newAccount(owner);
  const connected = answered(await fixture.add(owner, { rail: 'connect' }));
  const link = answered(await owner.call('POST', `/v1/account/payout-accounts/${connected.id}/onboarding`));
  await fixture.attach(owner, site.id, account.id);
  await owner.call('POST', `/v1/sites/${old.id}/archive`);
  await changeAddress(owner.accountId);
  const path = `/v1/account/payout-accounts/${account.id}`;
  const acts = [
    () => fixture.add(owner),
    () => owner.call('PATCH', path, { body: { name: 'Mine' } }),
    () => owner.call('POST', `${path}/key`, { body: { secret_key: newKey() } }),
    () => owner.call('DELETE', path),
    () => owner.call('POST', `/v1/account/payout-accounts/${connected.id}/onboarding`),
    () => fixture.attach(owner, third.id, spare.id),
    () => fixture.end(owner, site.id),
    () => owner.call('DELETE', `/v1/sites/${old.id}?confirm=true`),
    () => owner.call('PATCH', '/v1/account', { body: { email: 'third@example.com' } }),
  ];
  const codes = [];
  for (const act of acts) codes.push(codeOf(await act()));
  expect(codes).toEqual(Array(acts.length).fill(pending));
  // A link from before leads nowhere either.
  const opened = await callWith(fixture.url)('GET', new URL(link.url).pathname);
  expect([opened.status, opened.text]).toEqual([409, expect.stringContaining('e-mail address changed recently')]);
  fixture.skip(72 * hourMs);
  expect((await owner.call('PATCH', path, { body: { name: 'Mine' } })).status).toBe(200);
  expect((await owner.call('DELETE', `/v1/sites/${old.id}?confirm=true`)).status).toBe(200);
});

test('an offer that a thief made cannot be accepted by their own account', async () => {
  const [owner, thief] = [await fixture.newCaller(), await fixture.newCaller()];
  const [site, second] = [await createSite(owner), await createSite(owner)];
  const account = await fixture.newAccount(thief);
  const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
  await changeAddress(owner.accountId);
  expect(codeOf(await fixture.accept(thief, offer.id))).toEqual(pending);
  expect(codeOf(await fixture.offerFromSite(owner, second.id, account.id))).toEqual(pending);
  expect((await fixture.endOffer(owner, offer.id)).status).toBe(200);
});

test('undoing a change withdraws the offers that a thief made before it', async () => {
  const [owner, thief] = [await fixture.newCaller(), await fixture.newCaller()];
  const site = await createSite(owner);
  const account = await fixture.newAccount(thief);
  const offer = answered(await fixture.offerFromSite(owner, site.id, account.id));
  await changeAddress(owner.accountId);
  const { deps, clock, config } = fixture;
  const [id, secret, code] = ['link_undo', 'fre_undo', 'BCDFGHJK'];
  await deps
    .em()
    .execute(
      `insert into address_link (id, change_id, side, hash, code_hash, created_at) values (?, ?, 'undo', ?, ?, ?)`,
      [id, `addr_${owner.accountId}`, hashSecret(secret), hashCode(config.secret, id, code), clock.now()],
    );
  const undone = await answerLink(deps.em(), deps, secret, { act: 'undo', typed: code });
  expect(undone.outcome).toBe('undone');
  expect(outcome(await fixture.read(thief, offer.id))).toBe('withdrawn');
  expect(outcome(await fixture.accept(thief, offer.id))).toBe('invalid_payout_offer');
});
