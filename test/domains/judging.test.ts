import { expect, test } from 'vitest';
import { type Standing, settle } from '../../domains/judging.ts';

const at = (minutes: number) => new Date(Date.UTC(2026, 0, 1, 0, minutes));
const known = { isProved: true, isHere: true, isAbsent: false };
const silent = { ...known, isAbsent: undefined };
const gone = { isProved: false, isHere: undefined, isAbsent: true };

const fresh: Standing = {
  status: 'pending',
  statusSince: at(0),
  provedAt: null,
  checks: 0,
  elsewhereSince: null,
  elsewhereChecks: 0,
  absentSince: null,
  absentChecks: 0,
  checkedAt: null,
  nextCheckAt: at(0),
};
type Look = typeof known | typeof silent | typeof gone;
const after = (from: Standing, looks: Look[], everyMinutes = 5) =>
  looks.reduce((row, look, n) => settle(row, look, at((n + 1) * everyMinutes)), from);

test.each(['Deleted', 'pending'] as const)(
  'a domain that was absent, %s, and is back stays active while its parent cannot be asked',
  (status) => {
    const absent = { ...fresh, status, absentChecks: 3 };
    expect(after(absent, [silent]).status).toBe('active');
    expect(after(absent, [silent, silent, silent]).status).toBe('active');
  },
);

test('an active domain is Deleted once three looks in a row, over ten minutes, find it absent, and silence counts for nothing', () => {
  const active = after(fresh, [known]);
  expect(after(active, [gone, gone]).status).toBe('active');
  expect(after(active, [gone, silent, silent]).status).toBe('active');
  expect(after(active, [gone, silent, gone]).status).toBe('active');
  expect(after(active, [gone, gone, gone]).status).toBe('Deleted');
  expect(after(active, [gone, gone, known, gone, gone]).status).toBe('active');
});

test.each(['active', 'Moved'] as const)(
  'however many looks a %s domain gets within ten minutes, it is not Deleted',
  (status) => {
    const there = { ...after(fresh, [known]), status, elsewhereSince: at(-10_000), elsewhereChecks: 100 };
    const looks = Array.from({ length: 100 }, () => gone);
    expect(after(there, looks, 0.099).status).not.toBe('Deleted');
    expect(after(there, looks, 0.11).status).toBe('Deleted');
  },
);

test('looks that a call asked for are no steps on the curve, and put the next one off for nobody', () => {
  const waiting = after(
    fresh,
    Array.from({ length: 12 }, () => gone),
  );
  let asked = waiting;
  for (let n = 1; n <= 60; n++) asked = settle(asked, gone, new Date(at(60).getTime() + n * 5_000), true);
  const place = ({ status, statusSince, checks, nextCheckAt }: Standing) => ({
    status,
    statusSince,
    checks,
    nextCheckAt,
  });
  expect(place(asked)).toEqual(place(waiting));
  // One that finds it here moves it at once, as any other does.
  const here = settle(waiting, known, at(61), true);
  expect([here.status, here.nextCheckAt]).toEqual(['active', at(61 + 60)]);
  // And what begins to look wrong is looked at sooner than it would have been.
  expect(settle(here, gone, at(62), true).nextCheckAt).toEqual(at(67));
});
