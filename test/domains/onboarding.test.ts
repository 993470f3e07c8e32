/**
 * A domain from the call that adds it until it points here, in both modes, over HTTP.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { certificateActivities } from '#activities/certificates.ts';
import { domainActivities } from '#activities/domains.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { Domain } from '#db/domains/domain.ts';
import { overdueDomains } from '#db/domains/transitions.ts';
import { errorOf } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { codeOf, createDomainFixture, type DomainFixture, freeDomain } from './fixture.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

describe('in the mode nameservers', () => {
  test('setup names a pair of name servers, and delegation to them activates the domain', async () => {
    const owner = await fixture.newCaller();
    const brought = await fixture.bring(owner, 'nameservers');
    expect(brought).toMatchObject({ status: 'pending', mode: 'nameservers', waiting_on: 'owner', site_id: null });
    expect(brought.setup.map(({ type, found }) => [type, found])).toEqual([
      ['NS', false],
      ['NS', false],
    ]);
    const [a, b] = brought.setup.map(({ value }) => value) as [string, string];
    expect(a).toMatch(/^[0-9a-z]{16}\.a\.ns\.platform\.test$/);
    expect(b).toBe(a.replace('.a.', '.b.'));
    expect(brought.next_action).toContain(a);
    fixture.setUp(brought);
    const { body } = await fixture.check(owner, brought);
    expect(body).toMatchObject({ status: 'active', setup: [{ found: true, seen: [a, b] }, { found: true }] });
  });

  test('before proof the zone has only SOA and NS, and afterwards the waiting records', async () => {
    const owner = await fixture.newCaller();
    const brought = await fixture.bring(owner, 'nameservers');
    const { domain, id } = brought;
    const added = await owner.call('POST', `/v1/domains/${id}/records`, {
      body: { type: 'TXT', name: '@', content: 'v=spf1 -all' },
    });
    expect(added.status).toBe(200);
    await expect.poll(async () => (await fixture.zone(domain, 'SOA')).answers.length, { timeout: 10_000 }).toBe(1);
    // In any order: the name server turns it around from answer to answer.
    expect((await fixture.zone(domain, 'NS')).answers.sort()).toEqual(brought.setup.map(({ value }) => value).sort());
    expect(await fixture.zone(domain, 'A')).toEqual({ rcode: 'NOERROR', answers: [] });
    expect((await fixture.zone(domain, 'TXT')).answers).toEqual([]);
    fixture.setUp(brought);
    await fixture.check(owner, brought);
    expect((await fixture.zone(domain, 'A')).answers).toEqual(['127.0.0.1']);
    expect((await fixture.zone(domain, 'AAAA')).answers).toEqual(['::1']);
    expect((await fixture.zone(domain, 'TXT')).answers).toEqual(['v=spf1 -all']);
  });
});

describe('in the mode cname', () => {
  test('a TXT record proves a subdomain, and a CNAME points it here', async () => {
    const owner = await fixture.newCaller();
    const domain = `www.${freeDomain()}`;
    const brought = await fixture.bring(owner, 'cname', domain);
    expect(brought.setup).toMatchObject([
      { type: 'TXT', name: `_frontage.${domain}`, found: false },
      { type: 'CNAME', name: domain, value: 'cname.platform.test', found: false },
    ]);
    const asked = (await fixture.check(owner, brought)).body.next_action;
    expect(asked).toMatch(/: TXT record “[^;]+; CNAME record “[^;]+\. Then call/);
    fixture.setUp(brought);
    const { body } = await fixture.check(owner, brought);
    expect(body).toMatchObject({ status: 'active', setup: [{ found: true }, { found: true }] });
  });

  test('an apex gets only addresses', async () => {
    const owner = await fixture.newCaller();
    const brought = await fixture.bring(owner, 'cname');
    expect(brought.setup.map(({ type, value }) => [type, value]).slice(1)).toEqual([
      ['A', '127.0.0.1'],
      ['AAAA', '::1'],
    ]);
    const asked = (await fixture.check(owner, brought)).body.next_action;
    expect(asked).toContain('either its A and AAAA records, or, where the provider offers it, an ALIAS record');
    expect(asked).toContain('Once it is active, attach a site');
    fixture.setUp(brought);
    fixture.dns.set(brought.domain, 'AAAA', '2001:db8::dead');
    const { body: half } = await fixture.check(owner, brought);
    expect(half.status).toBe('pending');
    expect(half.problems.join()).toContain('2001:db8::dead');
    fixture.dns.set(brought.domain, 'AAAA', '::1');
    expect((await fixture.check(owner, brought)).body.status).toBe('active');
  });

  test('at an apex one address is enough', async () => {
    const owner = await fixture.newCaller();
    const brought = await fixture.bring(owner, 'cname');
    expect(brought.setup.map(({ optional }) => optional)).toEqual([false, false, false]);
    fixture.setUp(brought);
    fixture.dns.set(brought.domain, 'AAAA');
    const { body } = await fixture.check(owner, brought);
    expect(body.status).toBe('active');
    expect(body.setup).toMatchObject([
      { type: 'TXT', found: true, optional: false },
      { type: 'A', found: true, optional: false },
      { type: 'AAAA', found: false, optional: true },
    ]);
  });

  test('a domain becomes active without a call, within ten checks', async () => {
    const owner = await fixture.newCaller();
    const brought = await fixture.bring(owner, 'cname');
    fixture.setUp(brought);
    await expect.poll(async () => (await fixture.read(owner, brought)).status, { timeout: 20_000 }).toBe('active');
  });
});

test('repeated calls do not delay the next check', async () => {
  const owner = await fixture.newCaller();
  const brought = await fixture.bring(owner, 'cname');
  for (let calls = 0; calls < 15; calls++) await fixture.check(owner, brought);
  const { next_check_at } = await fixture.read(owner, brought);
  // Where its own looks have brought it, within this minute or so: some minutes. With the 15 that were asked for it would be 40.
  expect(Date.parse(next_check_at) - fixture.clock.now().getTime()).toBeLessThan(10 * 60_000);
});

test('an unknown or disabled mode is invalid_mode', async () => {
  const owner = await fixture.newCaller();
  const answer = await owner.call('POST', '/v1/domains', { body: { domain: freeDomain(), mode: 'transfer' } });
  expect([answer.status, errorOf(answer).code]).toEqual([400, 'invalid_mode']);
});

test('a blocked account’s domains are not checked or renewed until it is unblocked', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.bring(owner, 'cname');
  await blockAccount(fixture.deps.em(), fixture, owner.accountId, 'Its sites ask for passwords of a bank.');
  const row = () => fixture.deps.em().findOneOrFail(Domain, { id: domain.id });
  const { settleDomain } = domainActivities(fixture.deps as never);
  const step = await settleDomain(domain.id);
  expect(step).toMatchObject({ isRemoved: false, leftMs: null, wantsCertificate: false });
  fixture.setUp(domain);
  const { checkedAt } = await row();
  fixture.skip(3 * 3600_000);
  await settleDomain(domain.id);
  expect(await row()).toMatchObject({ status: 'pending', checkedAt });
  // Overdue, and not one that the reconciler starts.
  expect((await overdueDomains(fixture.deps.em(), fixture.clock)).map(({ id }) => id)).not.toContain(domain.id);
  await fixture.deps.em().nativeUpdate(Domain, { id: domain.id }, { status: 'active', provedAt: fixture.clock.now() });
  const renewed = await certificateActivities(fixture.deps as never).renewCertificate(domain.id);
  expect(renewed.status).toBe('pending');
  await fixture.deps.em().nativeUpdate(Domain, { id: domain.id }, { status: 'pending', provedAt: null });
  await unblockAccount(fixture.deps.em(), fixture, owner.accountId);
  await expect.poll(async () => (await row()).status, { timeout: 10_000 }).toBe('active');
});

test('a domain whose answer was lost is added once, and not after its removal', async () => {
  const owner = await fixture.newCaller();
  const listed = async () => (await owner.call('GET', '/v1/domains')).body.items.map(({ id }: { id: string }) => id);
  const lose = async () => {
    const body = { domain: freeDomain(), mode: 'cname' };
    const send = () => owner.call('POST', '/v1/domains', { body, headers: { 'idempotency-key': body.domain } });
    const restore = loseNextAnswer(fixture, 'transactional');
    expect((await send()).status).toBe(500);
    restore();
    return send;
  };
  const send = await lose();
  const { id } = (await send()).body;
  expect(await listed()).toEqual([id]);
  const again = await lose();
  const [removed] = await listed();
  expect((await owner.call('DELETE', `/v1/domains/${removed}`)).status).toBe(200);
  for (let times = 0; times < 2; times++) expect(codeOf(await again())).toEqual([404, 'not_found']);
  expect(await listed()).toEqual([id]);
  expect(fixture.takeUnexpected()).toHaveLength(2);
});
