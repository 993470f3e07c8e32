/**
 * One renewal at the time that the authority or the certificate's life gives. 400 days are a campaign.
 * @module-tag powerdns
 */
import { describe, expect, onTestFinished, test } from 'vitest';
import { renewalTime } from '#db/certificates/transitions.ts';
import { startTestAuthority } from './authority.ts';
import { createFixture } from './fixture.ts';

const dayMs = 24 * 3600_000;
const lifeDays = 90;

test('a certificate is renewed after two thirds of its life, at a random moment', () => {
  const notBefore = new Date('2026-01-01T00:00:00Z');
  const notAfter = new Date(notBefore.getTime() + lifeDays * dayMs);
  const daysAt = (chance: number) =>
    (renewalTime({ notBefore, notAfter }, chance, notBefore).getTime() - notBefore.getTime()) / dayMs;
  expect([0, 0.5, 1].map((chance) => daysAt(chance).toFixed(2))).toEqual(['60.00', '62.25', '64.50']);
  const late = new Date(notAfter.getTime() - dayMs);
  const next = renewalTime({ notBefore, notAfter }, 0, late);
  expect(next.getTime()).toBeGreaterThan(late.getTime());
  expect(next.getTime()).toBeLessThan(notAfter.getTime());
});

const authorities = [
  { what: 'without renewal information', renewal: undefined, days: [60, 64.5] },
  {
    what: 'that requests early renewals',
    renewal: (notBefore: Date) => ({
      start: new Date(notBefore.getTime() + 30 * dayMs),
      end: new Date(notBefore.getTime() + 32 * dayMs),
    }),
    days: [30, 32],
  },
] as const;

describe.each(authorities)('with an authority $what', ({ renewal, days: [from, to] }) => {
  test('a certificate is renewed once in time, and names the replaced one', { timeout: 60_000 }, async () => {
    let aheadMs = 0;
    const clock = { now: () => new Date(Date.now() + aheadMs) };
    const validate = async () => undefined;
    const authority = await startTestAuthority({ clock, days: lifeDays, validate, ...(renewal ? { renewal } : {}) });
    const fixture = await createFixture({ clock, authority });
    onTestFinished(() => fixture.close());
    await fixture.openTlsEdge();
    await fixture.pointHere('renewed.test');
    const id = await fixture.addDomain('renewed.test', { mode: 'cname' });
    const ordered = () => authority.orders.filter(({ names }) => names.includes('renewed.test'));
    for (let calls = 0; calls < 100 && ordered().length < 2; calls++) {
      const { status, renewAt } = await fixture.renew(id);
      expect(status).toBe('active');
      aheadMs += Math.max(0, Date.parse(renewAt) - clock.now().getTime());
    }
    const [first, second] = ordered();
    expect([first?.status, first?.replaces, second?.status]).toEqual(['valid', undefined, 'valid']);
    expect(second?.replaces).toEqual(expect.any(String));
    const age = ((second?.at.getTime() ?? 0) - (first?.at.getTime() ?? 0)) / dayMs;
    expect(age).toBeGreaterThan(from - 0.1);
    expect(age).toBeLessThan(to + 1.1);
    expect((await fixture.renew(id)).status).toBe('active');
    expect(ordered()).toHaveLength(2);
  });
});
