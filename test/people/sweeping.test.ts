/** Expired rows of people are deleted; no mail is sent. */
import { afterAll, expect, test } from 'vitest';
import { reconciliationActivities } from '#activities/reconciliation.ts';
import { issueToken } from '#api/tokens/rules.ts';
import { Mail } from '#db/mail/mail.ts';
import { recordSent } from '#db/mail/queue.ts';
import { usualScope } from '#rules/scopes.ts';
import { callWith } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { createPeopleFixture } from './fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const monthMs = 31 * 24 * 3600_000;

const sweep = () => reconciliationActivities(fixture.deps).sweepRows();
const count = async (table: string) => {
  const [row] = await fixture.deps.em().execute<{ n: string }[]>(`select count(*) as n from ${table}`);
  return Number(row?.n);
};

test('tokens are deleted a month after their end', async () => {
  const owner = await fixture.newCaller();
  const issue = async (more: object = {}) =>
    (await owner.call('POST', '/v1/tokens', { body: { name: 'T', ...more } })).body.id;
  const ends = (ms: number) => ({ expires_at: new Date(fixture.clock.now().getTime() + ms).toISOString() });
  const [kept, revoked] = [await issue(), await issue()];
  const [soon, later] = [await issue(ends(60_000)), await issue(ends(3 * monthMs))];
  await owner.call('DELETE', `/v1/tokens/${revoked}`);
  const left = async () => {
    const rows = await fixture.deps.em().execute<{ id: string }[]>('select id from token where name = ?', ['T']);
    return rows.map(({ id }) => id).sort();
  };
  fixture.skip(monthMs / 2);
  await sweep();
  expect(await left()).toEqual([kept, revoked, soon, later].sort());
  fixture.skip(monthMs);
  await sweep();
  expect(await left()).toEqual([kept, later].sort());
});

test('mails, links, requests and address changes are deleted after a month, unless referenced', async () => {
  // Those about the tokens of the test above.
  await fixture.deps.em().nativeDelete(Mail, {});
  const ask = people(fixture);
  const owner = await fixture.newCaller();
  const site = await ask.newSite(owner);
  const { body: invited } = await ask.invite(owner, site.id, fixture.newAddress());
  await owner.call('PATCH', '/v1/account', { body: { email: fixture.newAddress() } });
  await fixture.ask(fixture.newAddress());
  const browser = fixture.browser();
  await browser.press(await browser.open('/signin'), 'Send me a link', { email: fixture.newAddress() });
  const [waiting, ...others] = await fixture.deps.em().find(Mail, {}, { orderBy: { id: 'desc' } });
  for (const { id } of others) await recordSent(fixture.deps.em(), fixture.clock, id);

  const tables = ['mail', 'signin_link', 'access_request', 'email_change', 'address_link'];
  const before = await Promise.all(tables.map(count));
  expect(before).toEqual([5, 1, 1, 1, 1]);
  await sweep();
  expect(await Promise.all(tables.map(count))).toEqual(before);
  fixture.skip(monthMs);
  await sweep();
  expect(await Promise.all(tables.map(count))).toEqual([2, 0, 0, 0, 0]);
  // One waits to be sent, whatever its age; the other is the invitation's, which names its state.
  expect(await fixture.deps.em().count(Mail, { id: waiting?.id ?? '' })).toBe(1);
  const { body } = await callWith(fixture.url, owner.token)('GET', `/v1/sites/${site.id}/invitations`);
  expect(body.items).toMatchObject([{ id: invited.id, mail: 'sent' }]);
});

test('what an owner allowed once is deleted after its ten minutes', async () => {
  const owner = await fixture.newSignedIn();
  const { deps, clock, url } = fixture;
  const { secret } = await issueToken(deps.em(), clock, owner.accountId, { name: 'Scoped', scope: usualScope });
  const refused = await callWith(url, secret)('PATCH', '/v1/account', { body: { name: 'Other' } });
  const link = new URL(/https?:\/\/\S+$/.exec(refused.body.error.next_action)?.[0] ?? '');
  await owner.browser.press(await owner.browser.open(`${link.pathname}${link.search}`), 'Allow once');
  await sweep();
  expect(await count('scope_allowance')).toBe(1);
  fixture.skip(10 * 60_000 + 1);
  await sweep();
  expect(await count('scope_allowance')).toBe(0);
});
