/**
 * Four hundred days of renewals, with an authority that stamps by the same clock.
 * @module-tag powerdns
 */
import { X509Certificate } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Certificate } from '#db/certificates/certificate.ts';
import { startTestAuthority, type TestAuthority } from '#test/certificates/authority.ts';
import { type CertificateFixture, createFixture } from '#test/certificates/fixture.ts';
import { sized } from './size.ts';

const dayMs = 24 * 3600_000;
const skippedDays = 400;
const lifeDays = 90;
const wanted = sized({ short: 6, long: 50 });

const sayings = {
  'an authority without renewal information': undefined,
  'an authority that asks for early renewals': (notBefore: Date) => ({
    start: new Date(notBefore.getTime() + 30 * dayMs),
    end: new Date(notBefore.getTime() + 32 * dayMs),
  }),
};

describe.each(Object.entries(sayings))('%s', (_name, renewal) => {
  // Who is asked each day takes the longest.
  const domains = Math.max(2, Math.floor(wanted / (renewal ? 3 : 1)));
  let aheadMs = 0;
  const clock = { now: () => new Date(Date.now() + aheadMs) };
  let authority: TestAuthority;
  let fixture: CertificateFixture;
  beforeAll(async () => {
    const validate = async () => undefined;
    authority = await startTestAuthority({ clock, days: lifeDays, validate, ...(renewal ? { renewal } : {}) });
    fixture = await createFixture({ clock, authority });
    await fixture.openTlsEdge();
  });
  afterAll(async () => {
    await fixture?.close();
  });

  test(`in ${skippedDays} days each certificate is renewed in time, and none twice`, {
    timeout: 120_000,
  }, async () => {
    const began = clock.now().getTime();
    const due = new Map<string, number>();
    const names: string[] = [];
    for (let n = 0; n < domains; n++) {
      const name = `d${n}.years.test`;
      await fixture.pointHere(name);
      due.set(await fixture.addDomain(name, { mode: n % 2 ? 'cname' : 'nameservers' }), began);
      names.push(name);
    }
    let calls = 0;
    for (;;) {
      const [id, at] = [...due].reduce((first, one) => (one[1] < first[1] ? one : first));
      if (at > began + skippedDays * dayMs) break;
      aheadMs += Math.max(0, at - clock.now().getTime());
      const held = await fixture.deps.em().findOne(Certificate, { domainId: id });
      if (held?.notAfter) expect(held.notAfter.getTime()).toBeGreaterThan(clock.now().getTime() + 5 * dayMs);
      const { status, renewAt } = await fixture.renew(id);
      expect(status).toBe('active');
      expect(Date.parse(renewAt)).toBeGreaterThan(clock.now().getTime());
      due.set(id, Date.parse(renewAt));
      calls += 1;
    }
    for (const name of names) {
      const orders = authority.orders.filter((order) => order.names.includes(name));
      expect(orders.every(({ status }) => status === 'valid')).toBe(true);
      const ages = orders.slice(1).map(({ at }, index) => (at.getTime() - (orders[index]?.at.getTime() ?? 0)) / dayMs);
      for (const age of ages) {
        expect(age).toBeGreaterThan(renewal ? 29.9 : lifeDays * (2 / 3) - 0.1);
        expect(age).toBeLessThan(renewal ? 33 : lifeDays * 0.75);
      }
      expect(orders.length).toBeGreaterThanOrEqual(Math.floor(skippedDays / (renewal ? 33 : lifeDays * 0.75)));
      expect(orders.slice(1).every(({ replaces }) => replaces !== undefined)).toBe(true);
      const { chain } = await fixture.rowOf(name);
      expect(new X509Certificate(chain).validToDate.getTime()).toBeGreaterThan(clock.now().getTime());
    }
    // Not all at the same moment, though all began at one.
    const seconds = authority.orders
      .filter(({ replaces }) => replaces)
      .map(({ at }) => Math.floor(at.getTime() / 60_000));
    expect(new Set(seconds).size).toBeGreaterThan(seconds.length / 2);
    // Where nobody says when, it is asked for once a week at most; else each day, as it wants.
    expect(calls).toBeLessThan(domains * skippedDays * (renewal ? 1.3 : 0.4));
  });
});
