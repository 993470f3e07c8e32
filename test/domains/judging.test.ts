import { describe, expect, test } from 'vitest';
import { type DomainState, evaluate, nextState } from '#rules/dns/evaluation.ts';
import type { DnsAnswer, DnsObservation } from '#rules/dns/observation.ts';
import { type Checked, nextCheckMs } from '#rules/dns/retry-curve.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes));
const known = { isProved: true, isHere: true, isAbsent: false, isUnproved: false };
const silent = { ...known, isAbsent: undefined };
const gone = { isProved: false, isHere: undefined, isAbsent: true, isUnproved: false };

const fresh: DomainState = {
  status: 'pending',
  statusSince: at(0),
  provedAt: null,
  checks: 0,
  elsewhereSince: null,
  elsewhereChecks: 0,
  absentSince: null,
  absentChecks: 0,
  unprovedSince: null,
  unprovedChecks: 0,
  checkedAt: null,
  nextCheckAt: at(0),
};
type Look = typeof known | typeof silent | typeof gone;
const after = (from: DomainState, looks: Look[], everyMinutes = 5) =>
  looks.reduce((row, look, n) => nextState(row, look, at((n + 1) * everyMinutes)), from);

test.each(['Deleted', 'pending'] as const)(
  'a %s domain that is back becomes active even if its parent is silent',
  (status) => {
    const absent = { ...fresh, status, absentChecks: 3 };
    expect(after(absent, [silent]).status).toBe('active');
    expect(after(absent, [silent, silent, silent]).status).toBe('active');
  },
);

test('three absent checks over ten minutes make a domain Deleted; silence does not count', () => {
  const active = after(fresh, [known]);
  expect(after(active, [gone, gone]).status).toBe('active');
  expect(after(active, [gone, silent, silent]).status).toBe('active');
  expect(after(active, [gone, silent, gone]).status).toBe('active');
  expect(after(active, [gone, gone, gone]).status).toBe('Deleted');
  expect(after(active, [gone, gone, known, gone, gone]).status).toBe('active');
});

test.each(['active', 'Moved'] as const)(
  'with any number of %s checks within ten minutes, a domain is not Deleted',
  (status) => {
    const there = { ...after(fresh, [known]), status, elsewhereSince: at(-10_000), elsewhereChecks: 100 };
    const looks = Array.from({ length: 100 }, () => gone);
    expect(after(there, looks, 0.099).status).not.toBe('Deleted');
    expect(after(there, looks, 0.11).status).toBe('Deleted');
  },
);

test('a missing proof of a served domain counts, and silence resets nothing', () => {
  const missing = { ...known, isProved: false, isUnproved: true };
  const unanswered = { ...known, isProved: undefined, isUnproved: undefined } as never;
  const counted = (looks: Look[]) => {
    const { unprovedChecks, unprovedSince } = after(after(fresh, [known]), looks, 60);
    return [unprovedChecks, unprovedSince];
  };
  expect(counted([missing, unanswered, missing])).toEqual([2, at(60)]);
  expect(counted([unanswered])).toEqual([0, null]);
  expect(counted([missing, missing, known])).toEqual([0, null]);
  expect(after(fresh, [missing, missing, missing]).unprovedChecks).toBe(0);
});

test('checks by calls do not advance or delay the schedule', () => {
  const waiting = after(
    fresh,
    Array.from({ length: 12 }, () => gone),
  );
  let asked = waiting;
  for (let n = 1; n <= 60; n++) asked = nextState(asked, gone, new Date(at(60).getTime() + n * 5_000), true);
  const place = ({ status, statusSince, checks, nextCheckAt }: DomainState) => ({
    status,
    statusSince,
    checks,
    nextCheckAt,
  });
  expect(place(asked)).toEqual(place(waiting));
  // One that finds it here moves it at once, as any other does.
  const here = nextState(waiting, known, at(61), true);
  expect([here.status, here.nextCheckAt]).toEqual(['active', at(61 + 60)]);
  // And what begins to look wrong is looked at sooner than it would have been.
  expect(nextState(here, gone, at(62), true).nextCheckAt).toEqual(at(67));
});

const none: DnsAnswer = { none: true };
const unknown: DnsAnswer = { unknown: true };
const blank: DnsObservation = {
  registered: 'yes',
  delegation: none,
  ds: none,
  proof: none,
  cname: none,
  a: none,
  aaaa: none,
  caa: none,
  isBogus: false,
};
const wanted = {
  name: 'a.test',
  proof: 'the text',
  nameServers: ['x.a.ns', 'x.b.ns'],
  addresses: ['192.0.2.1', '2001:db8::1'],
};

describe('proof of a name', () => {
  test.each<[string, DnsAnswer, boolean | undefined]>([
    ['its own pair', { found: ['x.a.ns', 'x.b.ns'] }, true],
    ['its pair in the other order', { found: ['x.b.ns', 'x.a.ns'] }, true],
    ['one name server of the pair', { found: ['x.a.ns'] }, false],
    ['the pair and another name server', { found: ['x.a.ns', 'x.b.ns', 'ns.elsewhere'] }, false],
    ['another pair', { found: ['y.a.ns', 'y.b.ns'] }, false],
    ['one name server of each of two pairs', { found: ['x.a.ns', 'y.b.ns'] }, false],
    ['no delegation', none, false],
    ['a parent that did not respond', unknown, undefined],
  ])('depends on its name servers in nameservers mode: %s', (_what, delegation, isProved) => {
    const sight = { ...blank, delegation, proof: { found: ['the text'] } };
    expect(evaluate({ ...wanted, mode: 'nameservers' }, sight).isProved).toBe(isProved);
  });

  test.each<[string, DnsAnswer, boolean | undefined]>([
    ['its text', { found: ['the text'] }, true],
    ['its text among others', { found: ['v=spf1', 'the text'] }, true],
    ['another text', { found: ['another text'] }, false],
    ['its text followed by more', { found: ['the text and more'] }, false],
    ['a part of its text', { found: ['the'] }, false],
    ['no text', none, false],
    ['a DNS that did not respond', unknown, undefined],
  ])('depends on its TXT record in cname mode: %s', (_what, proof, isProved) => {
    const sight = { ...blank, proof, delegation: { found: wanted.nameServers } };
    expect(evaluate({ ...wanted, mode: 'cname' }, sight).isProved).toBe(isProved);
  });

  test('is needed: without it a name that points here stays pending or Deleted', () => {
    const unproved = { ...known, isProved: false };
    expect(nextState(fresh, unproved, at(1))).toMatchObject({ status: 'pending', provedAt: null });
    const proved = nextState(fresh, { ...known, isHere: false }, at(1));
    expect(proved).toMatchObject({ status: 'pending', provedAt: at(1) });
    // What is not active yet is held only while its proof stands, and loses it by no silence.
    expect(nextState(proved, { ...unproved, isHere: false }, at(2)).provedAt).toBe(null);
    expect(nextState(proved, { ...known, isProved: undefined, isHere: false } as never, at(2)).provedAt).toEqual(at(1));
    const lost = { ...fresh, status: 'Deleted' as const, provedAt: at(0) };
    expect(nextState(lost, unproved, at(1)).status).toBe('Deleted');
    expect(nextState(lost, { ...known, isProved: undefined } as never, at(1)).status).toBe('Deleted');
    expect(nextState(lost, known, at(1))).toMatchObject({ status: 'active', provedAt: at(1) });
  });
});

test.each<[string, Partial<DnsObservation>, boolean | undefined]>([
  ['both addresses', { a: { found: ['192.0.2.1'] }, aaaa: { found: ['2001:db8::1'] } }, true],
  ['one address alone', { a: { found: ['192.0.2.1'] } }, true],
  ['one own and one foreign address', { a: { found: ['192.0.2.1', '192.0.2.9'] } }, false],
  ['a foreign address, the others unknown', { a: { found: ['192.0.2.9'] }, aaaa: unknown }, false],
  ['an own address, the others unknown', { a: { found: ['192.0.2.1'] }, aaaa: unknown }, undefined],
  ['nothing', {}, false],
])('the check says whether a name points here: %s', (_what, more, isHere) => {
  expect(evaluate({ ...wanted, mode: 'cname' }, { ...blank, ...more }).isHere).toBe(isHere);
});

test.each<[Partial<Checked>, number, number]>([
  [{ checks: 9 }, 0, 5_000],
  [{ checks: 10 }, 0, minuteMs * 1.15 ** 10],
  [{ checks: 9, status: 'Deleted' }, 0, minuteMs * 1.05 ** 9],
  [{ checks: 500 }, 30 * dayMs - 1, 4 * hourMs],
  [{ checks: 500 }, 30 * dayMs, dayMs],
  [{ checks: 9 }, 30 * dayMs, 5_000],
  [{ status: 'active' }, 30 * dayMs, hourMs],
  [{ status: 'active', elsewhereChecks: 1 }, 0, 5 * minuteMs],
])('a domain with %j is checked again after its time', (more, ageMs, waitMs) => {
  const checked: Checked = { status: 'pending', statusSince: at(0), checks: 0, elsewhereChecks: 0, ...more };
  expect(nextCheckMs(checked, new Date(at(0).getTime() + ageMs))).toBe(waitMs);
});

test('a domain that pointed elsewhere stays active while its address is unknown', () => {
  const elsewhere = { ...known, isHere: false };
  const quickly = after(after(fresh, [known]), [elsewhere, elsewhere, elsewhere], 1);
  expect(quickly).toMatchObject({ status: 'active', elsewhereChecks: 3 });
  expect(nextState(quickly, { ...known, isHere: undefined }, at(60)).status).toBe('active');
  expect(nextState(quickly, elsewhere, at(60)).status).toBe('Moved');
});
