/**
 * Obstacles to a certificate at every step: each is waited out and explained, and nothing is ordered twice.
 * @module-tag powerdns
 */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { Certificate } from '#db/certificates/certificate.ts';
import { acquireLease, LeaseLost, sslOf, updateLeased } from '#db/certificates/transitions.ts';
import type { Zones } from '#providers/zones.ts';
import { challengeName } from '#rules/dns/challenges.ts';
import type { Step, TestAuthority } from './authority.ts';
import { createFaultyFixture, type FaultyFixture } from './faulty-fixture.ts';
import { baseDomain, type CertificateFixture } from './fixture.ts';
import { giveCertificate } from './given.ts';
import { createIssuer } from './issuer.ts';

const dayMs = 24 * 3600_000;

let faulty: FaultyFixture;
let fixture: CertificateFixture;
let authority: TestAuthority;
let clock: FaultyFixture['clock'];
let skip: FaultyFixture['skip'];
let newDomain: FaultyFixture['newDomain'];
let untilActive: FaultyFixture['untilActive'];

beforeAll(async () => {
  faulty = await createFaultyFixture();
  ({ fixture, authority, clock, skip, newDomain, untilActive } = faulty);
});
afterAll(() => fixture?.close());
beforeEach(() => {
  faulty.problem = undefined;
});

const rowOf = (domainId: string) => fixture.deps.em().findOneOrFail(Certificate, { domainId });

describe.each(['nameservers', 'cname'] as const)('a domain in %s mode', (mode) => {
  const steps: Step[] = ['order', 'proof', 'challenge', 'read', 'finalize', 'certificate'];
  const cases = steps.flatMap((at) => (['drop before', 'drop after'] as const).map((how) => ({ at, how })));
  test.each(cases)(
    'gets its certificate from one order, though the connection is lost at $at ($how)',
    async ({ at, how }) => {
      const { id, orders } = await newDomain(mode);
      authority.faults.push({ at, do: how });
      const tries = await untilActive(id);
      expect(authority.faults).toEqual([]);
      expect({ tries, orders: orders().map(({ status }) => status) }).toEqual({ tries: 2, orders: ['valid'] });
      expect(await rowOf(id)).toMatchObject({
        orderUrl: null,
        orderKey: null,
        lease: null,
        problem: null,
        refusals: 0,
        looks: 0,
      });
    },
  );
});

test('a new authority gets a new account and order, and nothing counts as refused', async () => {
  const first = await newDomain();
  await untilActive(first.id);
  const { id, orders } = await newDomain();
  authority.faults.push({ at: 'finalize', do: 'drop before' });
  await fixture.renew(id);
  expect(orders()).toHaveLength(1);
  authority.forget();
  skip(60_000);
  await untilActive(id);
  expect(orders().map(({ status }) => status)).toEqual(['valid']);
  expect((await rowOf(id)).refusals).toBe(0);
});

test('a certificate from another authority is renewed like any other', async () => {
  const { id, name, orders } = await newDomain();
  const before = await giveCertificate(fixture, await createIssuer(clock.now()), { name, domainId: id });
  await fixture.db.query('update certificate set renew_at = $2 where domain_id = $1', [id, clock.now()]);
  expect((await fixture.renew(id)).status).toBe('active');
  expect(orders().map(({ status, replaces }) => [status, replaces])).toEqual([['valid', undefined]]);
  expect(new X509Certificate((await fixture.rowOf(name)).chain).fingerprint256).not.toBe(before.fingerprint256);
});

describe('refusals by the authority', () => {
  test.each([
    ['dns', /could not resolve this domain/, 'owner'],
    ['caa', /A CAA record of this domain prevents/, 'owner'],
    ['connection', /could not reach this domain/, 'owner'],
    ['unauthorized', /reached a different server at this domain/, 'owner'],
    ['serverInternal', /did not issue a certificate/, 'platform'],
  ])('%s is explained in our own texts, and retried automatically', async (type, words, whose) => {
    const { id, orders } = await newDomain();
    faulty.problem = type;
    expect((await fixture.renew(id)).status).toBe('failed');
    const row = await rowOf(id);
    expect(row.problem).toMatch(words);
    expect(row.problem).not.toContain('words of the authority');
    expect(row).toMatchObject({ problemOf: whose, problemSince: expect.any(Date) });
    expect(sslOf(row, clock.now())).toMatchObject({ status: 'failed', expiresAt: null });
    faulty.problem = undefined;
    skip((row.nextTryAt?.getTime() ?? 0) - clock.now().getTime());
    expect(await untilActive(id)).toBe(1);
    expect(orders().map(({ status }) => status)).toEqual(['invalid', 'valid']);
  });

  test('are limited to three requests an hour, however often calls come', async () => {
    const { id, orders } = await newDomain();
    faulty.problem = 'dns';
    const end = clock.now().getTime() + 5 * 3600_000;
    // Often at first, where the waits are short.
    for (let calls = 0; clock.now().getTime() < end; calls++) {
      await fixture.renew(id);
      skip(calls < 20 ? 2_000 + Math.random() * 15_000 : Math.random() * 600_000);
    }
    const times = orders().map(({ at }) => at.getTime());
    expect(times.length).toBeGreaterThan(5);
    for (const time of times)
      expect(times.filter((one) => one >= time && one < time + 3600_000).length).toBeLessThanOrEqual(3);
    faulty.problem = undefined;
    skip(dayMs);
    await untilActive(id);
    expect((await rowOf(id)).refusals).toBe(0);
  });

  test('still count after the domain is removed and added again', async () => {
    const { id, name, orders } = await newDomain();
    faulty.problem = 'dns';
    for (let refusals = 1; refusals <= 3; refusals++) {
      const { renewAt } = await fixture.renew(id);
      if (refusals < 3) skip(Date.parse(renewAt) - clock.now().getTime());
    }
    await fixture.db.query('update domain set removed_at = $2 where id = $1', [id, clock.now()]);
    const again = await fixture.addDomain(name);
    const { renewAt } = await fixture.renew(again);
    expect(orders()).toHaveLength(3);
    expect(Date.parse(renewAt) - clock.now().getTime()).toBeGreaterThan(50 * 60_000);
    faulty.problem = undefined;
    skip(Date.parse(renewAt) - clock.now().getTime());
    expect(await untilActive(again)).toBe(1);
  });

  test('count even if the challenge response could not be removed', async () => {
    const { id, name, orders } = await newDomain('nameservers');
    faulty.problem = 'dns';
    const zones = fixture.deps.zones as Zones;
    const { replace } = zones;
    let failed = 0;
    const broken = vi.spyOn(zones, 'replace').mockImplementation(async (zone, sets) => {
      const isTakenDown =
        sets.every(({ contents }) => contents.length === 0) && sets[0]?.name === `${challengeName(name)}.`;
      if (isTakenDown && ++failed > 0) throw new Error('the name server is away');
      return await replace(zone, sets);
    });
    try {
      expect((await fixture.renew(id)).status).toBe('failed');
    } finally {
      broken.mockRestore();
    }
    expect([failed, await rowOf(id)]).toMatchObject([1, { refusals: 1, orderUrl: null, problemOf: 'platform' }]);
    faulty.problem = undefined;
    skip(20_000);
    expect(await untilActive(id)).toBe(1);
    expect(orders().map(({ status }) => status)).toEqual(['invalid', 'valid']);
    expect((await fixture.names.zones.read(name))?.filter(({ type }) => type === 'TXT')).toEqual([]);
  });

  test('a limit applies as long as the authority says, and the order is kept', async () => {
    const { id, orders } = await newDomain();
    authority.faults.push({ at: 'finalize', do: { status: 429, type: 'rateLimited', retryAfter: '7200' } });
    const { status, renewAt } = await fixture.renew(id);
    expect(status).toBe('failed');
    expect(Date.parse(renewAt) - clock.now().getTime()).toBeGreaterThan(7_100_000);
    expect(await fixture.renew(id)).toMatchObject({ renewAt });
    skip(7_200_000);
    expect(await untilActive(id)).toBe(1);
    expect(orders()).toHaveLength(1);
  });

  test('an authority that is down is retried slowly, without blame', async () => {
    const { id } = await newDomain();
    authority.faults.push({ at: 'nonce', do: { status: 503, type: 'serverInternal' } });
    await fixture.renew(id);
    expect(await rowOf(id)).toMatchObject({
      refusals: 0,
      looks: 1,
      problem: expect.stringContaining('cannot be reached at the moment'),
      problemOf: 'platform',
    });
    skip(60_000);
    await untilActive(id);
  });
});

test('one worker at a time renews a certificate, and a late one changes nothing', async () => {
  const { id, name, orders } = await newDomain();
  const all = await Promise.allSettled(Array.from({ length: 6 }, () => fixture.renew(id)));
  expect(all.filter((one) => one.status === 'fulfilled').length).toBeGreaterThanOrEqual(1);
  await untilActive(id);
  expect(orders()).toHaveLength(1);
  const row = await fixture.rowOf(name);
  const em = fixture.deps.em();
  const held = await acquireLease(em, clock.now(), row.id);
  expect(held).toBeDefined();
  expect(await acquireLease(em, clock.now(), row.id)).toBeUndefined();
  skip(16_000);
  const next = await acquireLease(em, clock.now(), row.id);
  expect(next).toBeDefined();
  await expect(updateLeased(em, clock.now(), held as never, { problem: 'late' })).rejects.toBeInstanceOf(LeaseLost);
  expect((await fixture.rowOf(name)).problem).toBe(null);
  await fixture.db.query('update certificate set lease = null, leased_until = null where id = $1', [row.id]);
});

test('the TXT records of base domain and wildcard coexist, and keys are encrypted', async () => {
  await fixture.pointHere(baseDomain);
  expect((await fixture.renewOwn()).status).toBe('active');
  const order = authority.orders.find(({ names }) => names.includes(`*.${baseDomain}`));
  expect(order?.proofs.map(({ name, status }) => [name, status])).toEqual([
    [baseDomain, 'valid'],
    [`*.${baseDomain}`, 'valid'],
  ]);
  const { rows } = await fixture.db.query(
    'select sealed_key from certificate where chain is not null union all select sealed_key from acme_account',
  );
  expect(rows.length).toBeGreaterThan(1);
  for (const { sealed_key: sealed } of rows) {
    expect(sealed.toString('latin1')).not.toContain('PRIVATE KEY');
    expect(sealed[0]).toBe(1);
  }
});
