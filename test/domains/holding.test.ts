/**
 * Ownership of a name: one account holds it, by proof alone.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Domain, DomainTombstone } from '#db/domains/domain.ts';
import { createSite, errorOf } from '#test/api/fixture.ts';
import { cnameTarget, codeOf, createDomainFixture, type DomainFixture, freeDomain } from './fixture.ts';
import { badNames } from './name-list.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

const post = (domain: string, mode = 'cname') => ({ body: { domain, mode }, headers: { prefer: 'respond-async' } });

test('a name at or below another account’s domain is domain_taken, one above is not', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const held = await fixture.active(owner, 'cname', `shop.${freeDomain()}`);
  for (const name of [held.domain, `www.${held.domain}`]) {
    expect(codeOf(await other.call('POST', '/v1/domains', post(name)))).toEqual([409, 'domain_taken']);
  }
  expect((await other.call('POST', '/v1/domains', post(held.domain.replace('shop.', '')))).status).toBe(200);
  expect((await owner.call('POST', '/v1/domains', post(`www.${held.domain}`))).status).toBe(200);
  const again = await owner.call('POST', '/v1/domains', post(held.domain));
  expect([again.status, again.body.id]).toEqual([200, held.id]);
  expect(codeOf(await owner.call('POST', '/v1/domains', post(held.domain, 'nameservers')))).toEqual([
    409,
    'domain_taken',
  ]);
});

test('of two accounts that add one name, the first to prove it wins', async () => {
  const [first, second] = [await fixture.newCaller(), await fixture.newCaller()];
  const domain = freeDomain();
  const [one, two] = [await fixture.bring(first, 'cname', domain), await fixture.bring(second, 'cname', domain)];
  expect(one.setup[0]?.value).not.toBe(two.setup[0]?.value);
  fixture.setUp(two);
  fixture.dns.set(`_frontage.${domain}`, 'TXT', ...[one, two].map(({ setup }) => setup[0]?.value ?? ''));
  fixture.skip(5_000);
  const calls = [first.call('POST', `/v1/domains/${one.id}/check`), second.call('POST', `/v1/domains/${two.id}/check`)];
  const seen = (await Promise.all(calls)).map(({ body }) => body);
  expect(seen.map(({ status }) => status).sort()).toEqual(['active', 'pending']);
  const loser = seen.find(({ status }) => status === 'pending');
  expect(loser).toMatchObject({ waiting_on: 'owner', next_action: expect.stringContaining('Another account has') });
  const holders = await fixture.deps.em().count(Domain, { name: domain, provedAt: { $ne: null } });
  expect(holders).toBe(1);
});

test('the database itself refuses a second holder of a name, or one below it', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const held = await fixture.active(owner);
  for (const name of [held.domain, `a.b.${held.domain}`]) {
    const em = fixture.deps.em();
    const now = fixture.clock.now();
    const rest = {
      registrable: held.domain,
      mode: 'cname',
      status: 'active',
      statusSince: now,
      nextCheckAt: now,
      createdAt: now,
    } as const;
    em.create(Domain, {
      id: `dom_${name}`,
      account: other.accountId,
      name,
      proof: name,
      pair: name,
      provedAt: now,
      ...rest,
    });
    await expect(em.flush()).rejects.toThrow(/domain_held|another account holds|domain_one_holder/);
  }
});

describe('leftovers of a removed domain', () => {
  test('CNAME and TXT records prove nothing for the next account', async () => {
    const [owner, next] = [await fixture.newCaller(), await fixture.newCaller()];
    const held = await fixture.active(owner, 'cname', `www.${freeDomain()}`);
    const site = await createSite(owner);
    await owner.call('POST', `/v1/domains/${held.id}/attach`, { body: { site_id: site.id } });
    const removed = await owner.call('DELETE', `/v1/domains/${held.id}`);
    expect([removed.status, removed.body.status, removed.body.site_id]).toEqual([200, 'active', null]);
    expect(codeOf(await owner.call('GET', `/v1/domains/${held.id}`))).toEqual([404, 'not_found']);
    expect(await fixture.deps.em().findOne(DomainTombstone, { name: held.domain })).toMatchObject({ mode: 'cname' });
    for (const account of [next, owner]) {
      const brought = await fixture.bring(account, 'cname', held.domain);
      const { body } = await fixture.check(account, brought);
      expect(body).toMatchObject({
        status: 'pending',
        setup: [
          { type: 'TXT', found: false },
          { type: 'CNAME', found: true },
        ],
      });
    }
    const mine = (await next.call('GET', '/v1/domains')).body.items[0];
    fixture.setUp(mine);
    expect((await fixture.check(next, mine)).body.status).toBe('active');
    expect(await fixture.deps.em().findOne(DomainTombstone, { name: held.domain })).toBe(null);
  });

  test('an old delegation reaches an empty zone, and the name servers change', async () => {
    const [owner, next] = [await fixture.newCaller(), await fixture.newCaller()];
    const held = await fixture.active(owner, 'nameservers');
    await owner.call('DELETE', `/v1/domains/${held.id}`);
    await expect.poll(async () => (await fixture.zone(held.domain, 'SOA')).rcode, { timeout: 10_000 }).toBe('REFUSED');
    const brought = await fixture.bring(next, 'nameservers', held.domain);
    await expect.poll(async () => (await fixture.zone(held.domain, 'SOA')).rcode, { timeout: 10_000 }).toBe('NOERROR');
    expect((await fixture.zone(held.domain, 'A')).answers).toEqual([]);
    const { body } = await fixture.check(next, brought);
    expect(body.status).toBe('pending');
    expect(body.problems.join()).toContain('other name servers');
    fixture.setUp(brought);
    expect((await fixture.check(next, brought)).body.status).toBe('active');
  });

  test('in nameservers mode neither a TXT record nor our own zone proves a name', async () => {
    const owner = await fixture.newCaller();
    const brought = await fixture.bring(owner, 'nameservers');
    const row = await fixture.deps.em().findOneOrFail(Domain, { id: brought.id });
    fixture.dns.set(`_frontage.${brought.domain}`, 'TXT', row.proof);
    // As a server would that answers for the name itself, and not as its parent.
    fixture.dns.set(brought.domain, 'NS', ...brought.setup.map(({ value }) => value));
    expect((await fixture.check(owner, brought)).body.status).toBe('pending');
  });
});

test.each([
  ['platform.test', 'sites.localhost', 'cname.platform.test', `x.${cnameTarget}`, 'ns.platform.test'],
  ['co.uk', 'github.io', 'kawasaki.jp'],
])('our own, public suffix and reserved names are domain_unavailable: %s, …', async (...names) => {
  const owner = await fixture.newCaller();
  for (const name of names.filter((one) => one !== 'sites.localhost')) {
    expect([name, ...codeOf(await owner.call('POST', '/v1/domains', post(name)))]).toEqual([
      name,
      409,
      'domain_unavailable',
    ]);
  }
});

test('a name that cannot be registered is invalid_domain, with the reason', async () => {
  const owner = await fixture.newCaller();
  // Names below .test are registered in this fixture.
  for (const name of badNames.filter((one) => !one.endsWith('.test'))) {
    const answer = await owner.call('POST', '/v1/domains', post(name));
    // What no text has is refused with the body itself.
    const code = /\\u0000|\\ud800/.test(JSON.stringify(name)) ? 'invalid_json' : 'invalid_domain';
    expect([name, ...codeOf(answer)]).toEqual([name, 400, code]);
  }
  expect((await owner.call('GET', '/v1/domains')).body.items).toEqual([]);
});

test('a missing domain is invalid_domain, and a missing mode invalid_mode', async () => {
  const owner = await fixture.newCaller();
  const refused = async (body: unknown) => codeOf(await owner.call('POST', '/v1/domains', { body }));
  expect(await refused({ mode: 'cname' })).toEqual([400, 'invalid_domain']);
  expect(await refused({ domain: 1, mode: 'cname' })).toEqual([400, 'invalid_domain']);
  expect(await refused({ domain: 'example.com' })).toEqual([400, 'invalid_mode']);
});

test('an unregistered name waits, and the response lists this problem', async () => {
  const owner = await fixture.newCaller();
  const brought = await fixture.bring(owner, 'nameservers');
  expect(brought.status).toBe('pending');
  expect(brought.problems).toEqual([
    `${brought.domain} is not registered, or its registration has expired. Buy or renew it first.`,
  ]);
});

test('a check without DNS is check_unavailable and changes nothing; another must wait 5 s', async () => {
  const owner = await fixture.newCaller();
  const domain = await fixture.active(owner);
  const before = fixture.dns.fault;
  fixture.dns.fault = ({ name }) => (name.endsWith(domain.domain) ? 'SERVFAIL' : undefined);
  try {
    const answer = await fixture.check(owner, domain);
    expect([...codeOf(answer), errorOf(answer).retryable]).toEqual([503, 'check_unavailable', true]);
    const soon = await owner.call('POST', `/v1/domains/${domain.id}/check`);
    expect([...codeOf(soon), soon.headers.get('retry-after')]).toEqual([429, 'rate_limited', '5']);
  } finally {
    fixture.dns.fault = before;
  }
  expect(await fixture.read(owner, domain)).toMatchObject({ status: 'active' });
});

test('without a configured target, no domain is added in cname mode', async () => {
  const owner = await fixture.newCaller();
  const values = { A: '127.0.0.1', AAAA: '::1' } as const;
  for (const type of ['A', 'AAAA'] as const) fixture.dns.set(cnameTarget, type);
  try {
    expect(codeOf(await owner.call('POST', '/v1/domains', post(freeDomain())))).toEqual([503, 'cname_unavailable']);
  } finally {
    for (const type of ['A', 'AAAA'] as const) fixture.dns.set(cnameTarget, type, values[type]);
  }
});

test('domains waiting for their owner are in inbox, list and count, within the cap', async () => {
  const owner = await fixture.newCaller();
  const brought = await fixture.bring(owner, 'cname');
  const { body: inbox } = await owner.call('GET', '/v1/inbox');
  expect(inbox.items).toMatchObject([{ kind: 'domain', id: brought.id, next_action: expect.stringContaining('TXT') }]);
  const { body: account } = await owner.call('GET', '/v1/account');
  expect(account).toMatchObject({
    counts: { domains: 1 },
    limits: { domains: { used: 1, value: 20 } },
    domain_onboarding: { modes: ['nameservers', 'cname'] },
  });
  expect(
    (await owner.call('GET', '/v1/domains?status=pending')).body.items.map(({ id }: { id: string }) => id),
  ).toEqual([brought.id]);
  expect((await owner.call('GET', '/v1/domains?status=Moved')).body.items).toEqual([]);
  expect(codeOf(await owner.call('GET', '/v1/domains?status=moved'))).toEqual([400, 'invalid_status']);
  // For what a certificate lacks it waits from when that was noted, however long the domain has been active, and whoever waits is woken.
  fixture.setUp(brought);
  await fixture.check(owner, brought);
  expect((await owner.call('GET', '/v1/inbox')).body.items).toEqual([]);
  fixture.skip(3600_000);
  const since = fixture.clock.now();
  fixture.skip(60_000);
  const heard = owner.call('GET', `/v1/inbox?wait=20&since=${since.toISOString()}`);
  const began = performance.now();
  const problemSince = fixture.clock.now();
  await fixture.certify(brought, { problem: 'A CAA record forbids it.', problemOf: 'owner', problemSince });
  expect((await heard).body.items).toMatchObject([{ kind: 'domain', id: brought.id, at: problemSince.toISOString() }]);
  // By itself it would have looked again after 15 seconds.
  expect(performance.now() - began).toBeLessThan(12_000);
  const platform = { problem: 'The authority is away.', problemOf: 'platform' as const };
  await fixture.certify(brought, platform);
  expect((await owner.call('GET', '/v1/inbox')).body.items).toEqual([]);
  expect(await fixture.read(owner, brought)).toMatchObject({
    waiting_on: 'platform',
    problems: [platform.problem],
    next_action: expect.stringContaining(platform.problem),
  });
  for (let more = 1; more < 20; more++) await owner.call('POST', '/v1/domains', post(freeDomain()));
  expect(codeOf(await owner.call('POST', '/v1/domains', post(freeDomain())))).toEqual([402, 'plan_limit']);
});
