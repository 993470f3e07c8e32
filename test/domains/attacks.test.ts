/**
 * Attempts to take or damage a foreign name: they change nothing for its holder.
 * @module-tag powerdns
 */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { blockDomain, unblockDomain } from '#db/domains/blocks.ts';
import { Domain } from '#db/domains/domain.ts';
import { observeDns } from '#providers/dns/observation.ts';
import type { Caller } from '#test/api/fixture.ts';
import { codeOf, createDomainFixture, type DomainFixture, freeDomain, type Shown } from './fixture.ts';

let fixture: DomainFixture;
beforeAll(async () => {
  fixture = await createDomainFixture();
}, 60_000);
afterAll(() => fixture?.close());

const post = (domain: string, mode = 'cname') => ({ body: { domain, mode }, headers: { prefer: 'respond-async' } });
const add = (caller: Caller, { id }: Shown, body: object) => caller.call('POST', `/v1/domains/${id}/records`, { body });

/** The names of its name servers have addresses, as ours have in the world. */
function nameServersOf({ setup }: Shown): void {
  for (const { type, value } of setup) if (type === 'NS') fixture.dns.set(value, 'A', '127.0.0.1');
}

test('an unproved name below another’s takes nothing out of the holder’s zone', async () => {
  const [owner, stranger] = [await fixture.newCaller(), await fixture.newCaller()];
  const shown = await fixture.bring(owner, 'nameservers');
  nameServersOf(shown);
  const www = `www.${shown.domain}`;
  const below = await fixture.bring(stranger, 'nameservers', www);
  await expect.poll(async () => (await fixture.zone(www, 'SOA')).answers.length, { timeout: 10_000 }).toBe(1);
  await add(owner, shown, { type: 'A', name: 'www', content: '192.0.2.7' });
  fixture.setUp(shown);
  expect((await fixture.check(owner, shown)).body.status).toBe('active');
  expect((await fixture.zone(www, 'A')).answers).toEqual(['192.0.2.7']);
  expect((await fixture.check(stranger, below)).body.status).toBe('pending');
  expect((await fixture.zone(www, 'A')).answers).toEqual(['192.0.2.7']);
});

test('a zone’s holder may delegate a name below it to another domain of theirs', async () => {
  const owner = await fixture.newCaller();
  const zone = await fixture.active(owner, 'nameservers');
  nameServersOf(zone);
  await add(owner, zone, { type: 'A', name: 'shop', content: '192.0.2.8' });
  const below = await fixture.bring(owner, 'nameservers', `shop.${zone.domain}`);
  // What stands there is not taken away by the bringing alone.
  expect((await fixture.zone(below.domain, 'A')).answers).toEqual(['192.0.2.8']);
  const { body } = await owner.call('GET', `/v1/domains/${zone.id}/records`);
  const old = body.items.find(({ name }: { name: string }) => name === below.domain);
  await owner.call('DELETE', `/v1/domains/${zone.id}/records/${old.record_id}`);
  for (const { type, value } of below.setup) {
    if (type === 'NS') await add(owner, zone, { type, name: 'shop', content: value });
  }
  for (let looks = 0; looks < 3; looks++) {
    expect((await fixture.check(owner, below, 6 * 60_000)).body.status).toBe('active');
  }
  expect((await fixture.zone(below.domain, 'A')).answers).toEqual(['127.0.0.1']);
});

test.each(['_acme-challenge.mail', '_acme-challenge.look-1', '_look-1', 'x._look-012345678'])(
  'a removed record at %s is gone from the zone',
  async (name) => {
    const owner = await fixture.newCaller();
    const zone = await fixture.active(owner, 'nameservers');
    const { body } = await add(owner, zone, { type: 'TXT', name, content: 'elsewhere' });
    expect((await fixture.zone(body.name, 'TXT')).answers).toEqual(['elsewhere']);
    await owner.call('DELETE', `/v1/domains/${zone.id}/records/${body.record_id}`);
    expect((await fixture.zone(body.name, 'TXT')).answers).toEqual([]);
  },
);

test('records that the name server would refuse are refused early, and block no zone', async () => {
  const owner = await fixture.newCaller();
  const shown = await fixture.bring(owner, 'nameservers');
  for (const record of [
    { type: 'MX', name: '@', content: 'mail_1.example.com' },
    { type: 'NS', name: 'team', content: 'ns_1.example.com' },
    { type: 'SRV', name: '_sip._tcp', content: '1 5060 sip_1.example.com', priority: 1 },
  ]) {
    expect([record, ...codeOf(await add(owner, shown, record))]).toEqual([record, 400, 'invalid_record']);
  }
  const odd = [
    { type: 'A', name: '_under_score', content: '192.0.2.1' },
    { type: 'A', name: '*._a', content: '192.0.2.1' },
    { type: 'AAAA', name: 'mapped', content: '::ffff:192.0.2.1' },
    { type: 'CNAME', name: '*', content: '_under_score.example.com' },
    { type: 'CNAME', name: '_acme-challenge.www', content: `${'x'.repeat(63)}.example.com` },
    { type: 'MX', name: '@', content: '.', priority: 65535 },
    { type: 'NS', name: '*.wild', content: 'ns.example.com' },
    { type: 'SRV', name: '*', content: '0 0 .', priority: 0 },
    { type: 'TXT', name: 'a.b.c.d', content: '"'.repeat(2048) },
    { type: 'TXT', name: 'slashes', content: '\\'.repeat(1024) },
    { type: 'TXT', name: 'last', content: '\\000\\"; $INCLUDE /etc/passwd' },
    { type: 'CAA', name: '@', content: '128 iodef "mailto:a@example.com"' },
    { type: 'CAA', name: '@', content: '0 issuewild ";"' },
    { type: 'CAA', name: 'sub', content: '0 contactphone "+49 1; 2"' },
    { type: 'CAA', name: 'sub', content: '0 issue ""' },
  ];
  for (const record of odd) {
    const { status, text } = await add(owner, shown, record);
    expect([record, status, status === 400 && !text.includes('invalid_record')]).toEqual([record, status, false]);
  }
  fixture.setUp(shown);
  expect((await fixture.check(owner, shown)).body.status).toBe('active');
  expect((await fixture.zone(shown.domain, 'A')).answers).toEqual(['127.0.0.1']);
  expect((await fixture.zone(`last.${shown.domain}`, 'TXT')).answers).toEqual(['\\000\\"; $INCLUDE /etc/passwd']);
});

test('name servers behind an alias prove nothing for a name below it', async () => {
  const stranger = await fixture.newCaller();
  const [victim, own] = [freeDomain(), freeDomain()];
  // The stranger has name servers of his own, which refer to whomever he wants; the victim has a page with him.
  fixture.dns.set(victim, 'A', '192.0.2.1');
  fixture.dns.set(`page.${victim}`, 'CNAME', own);
  fixture.dns.set(own, 'NS', `ns.${own}`);
  fixture.dns.set(`ns.${own}`, 'A', '127.0.0.1');
  fixture.dns.set(`www.test`, 'A', '192.0.2.1');
  const asked = fixture.dns.asked.length;
  const brought = await fixture.bring(stranger, 'nameservers', `x.page.${victim}`);
  await fixture.check(stranger, brought);
  const names = fixture.dns.asked.slice(asked).map(({ name, type }) => `${type} ${name}`);
  expect(names).not.toContain(`A ns.${own}`);
});

test('any bytes in a domain’s DNS are evaluated', async () => {
  const owner = await fixture.newCaller();
  const shown = await fixture.bring(owner, 'cname');
  fixture.setUp(shown);
  const proof = shown.setup.find(({ type }) => type === 'TXT')?.value ?? '';
  fixture.dns.set(`_frontage.${shown.domain}`, 'TXT', 'a\u0000b', 'x'.repeat(9_000), proof);
  fixture.dns.set(shown.domain, 'CAA', '0 issue "\u0000"');
  const { body } = await fixture.check(owner, shown);
  expect([body.status, body.setup[0].found]).toEqual(['active', true]);
  fixture.dns.set(shown.domain, 'CAA');
});

test('an observation times out with endless name servers, and records nothing', async () => {
  const never = () => new Promise<never>(() => {});
  vi.useFakeTimers();
  try {
    const looked = observeDns(
      { ask: never, askParent: never, isBogus: never },
      { name: 'a.x.test', registrable: 'x.test' },
    );
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await looked).toMatchObject({
      registered: 'unknown',
      delegation: { unknown: true },
      proof: { unknown: true },
    });
  } finally {
    vi.useRealTimers();
  }
}, 5_000);

test('a blocked domain stays blocked when it is removed and added again', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const held = await fixture.active(owner);
  await blockDomain(fixture.deps.em(), fixture.clock, held.id, 'It was reported for phishing.');
  await owner.call('DELETE', `/v1/domains/${held.id}`);
  for (const caller of [owner, other]) {
    for (const name of [held.domain, `www.${held.domain}`]) {
      expect(codeOf(await caller.call('POST', '/v1/domains', post(name)))).toEqual([409, 'domain_unavailable']);
    }
  }
  await unblockDomain(fixture.deps.em(), fixture.clock, held.id);
  expect((await owner.call('POST', '/v1/domains', post(held.domain))).status).toBe(200);
});

test('a domain blocked after its removal cannot be added until it is unblocked', async () => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const held = await fixture.active(owner);
  await owner.call('DELETE', `/v1/domains/${held.id}`);
  const stopped = await blockDomain(fixture.deps.em(), fixture.clock, held.id, 'It was reported for phishing.');
  expect(stopped.status).toBe('Blocked');
  for (const caller of [owner, other]) {
    expect(codeOf(await caller.call('POST', '/v1/domains', post(held.domain)))).toEqual([409, 'domain_unavailable']);
  }
  await unblockDomain(fixture.deps.em(), fixture.clock, held.id);
  expect((await other.call('POST', '/v1/domains', post(held.domain))).status).toBe(200);
});

test.each(['removed', 'kept'])('a domain that was lost, and is %s, is blocked for its account alone', async (how) => {
  const [owner, other] = [await fixture.newCaller(), await fixture.newCaller()];
  const held = await fixture.active(owner);
  await fixture.deps
    .em()
    .nativeUpdate(Domain, { id: held.id }, { status: 'Deleted', statusSince: fixture.clock.now() });
  if (how === 'removed') await owner.call('DELETE', `/v1/domains/${held.id}`);
  const stopped = await blockDomain(fixture.deps.em(), fixture.clock, held.id, 'It was reported for phishing.');
  expect(stopped.status).toBe('Blocked');
  if (how === 'kept') await owner.call('DELETE', `/v1/domains/${held.id}`);
  expect(codeOf(await owner.call('POST', '/v1/domains', post(held.domain)))).toEqual([409, 'domain_unavailable']);
  // The name may be another’s by now.
  expect((await other.call('POST', '/v1/domains', post(held.domain))).status).toBe(200);
});
