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
  absentChecks: 0,
  checkedAt: null,
  nextCheckAt: at(0),
};
const after = (from: Standing, looks: (typeof known | typeof silent | typeof gone)[]) =>
  looks.reduce((row, look, minute) => settle(row, look, at(minute + 1)), from);

test.each(['Deleted', 'pending'] as const)(
  'a domain that was absent, %s, and is back stays active while its parent cannot be asked',
  (status) => {
    const absent = { ...fresh, status, absentChecks: 3 };
    expect(after(absent, [silent]).status).toBe('active');
    expect(after(absent, [silent, silent, silent]).status).toBe('active');
  },
);

test('an active domain is Deleted at the third look in a row that finds it absent, and silence counts for nothing', () => {
  const active = after(fresh, [known]);
  expect(after(active, [gone, gone]).status).toBe('active');
  expect(after(active, [gone, silent, gone]).status).toBe('active');
  expect(after(active, [gone, gone, gone]).status).toBe('Deleted');
  expect(after(active, [gone, gone, known, gone, gone]).status).toBe('active');
});
