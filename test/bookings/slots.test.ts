import fc from 'fast-check';
import { expect, test } from 'vitest';
import { dateOf, dayOf } from '#rules/bookings/dates.ts';
import { busySpanOf, offersOf, slotsOf } from '#rules/bookings/time-slots.ts';
import { localTime, offsetPeriods } from '#rules/bookings/time-zones.ts';
import { type Calendar, type Offering, weekdays } from '#rules/bookings/timetable.ts';
import { dayMs } from '#rules/time.ts';
import { sized } from '#test/campaigns/size.ts';
import { slowOffers } from './slow-model.ts';
import { type Case, cases, changeDays, zones } from './timetables.ts';

const runs = sized({ one: 300, short: 3_000, long: 100_000 });

function both({ service, calendar, date, now, taken, grainMinutes }: Case) {
  const day = dayOf(date) as number;
  const slots = slotsOf(service, calendar, { first: day, last: day }, now);
  const span = busySpanOf(service, slots);
  const read = taken.filter(({ from, until }) => span && from < span.until && until > span.from);
  return {
    fast: offersOf(service, calendar, slots, read).map(({ start, seatsLeft }) => ({ start, seatsLeft })),
    slow: slowOffers(service, calendar, date, { now, taken, grainMinutes }),
  };
}

test('time slots match a slow and obvious model, over random timetables, zones and bookings', {
  timeout: 3_600_000,
}, () => {
  let offered = 0;
  fc.assert(
    fc.property(cases, (one) => {
      const { fast, slow } = both(one);
      offered += slow.length;
      expect(fast).toEqual(slow);
    }),
    { numRuns: runs },
  );
  // A model that offers nothing agrees with anything.
  expect(offered).toBeGreaterThan(runs);
});

const hourly: Offering = {
  duration_minutes: 60,
  step_minutes: 30,
  buffer_before_minutes: 0,
  buffer_after_minutes: 0,
  lead_minutes: 0,
  horizon_days: 3650,
};

function always(zone: string, hours = { from: '00:00', to: '24:00' }): Omit<Calendar, 'key' | 'name'> {
  return { time_zone: zone, capacity: 1, hours: [{ days: [...weekdays], ...hours }], exceptions: [] };
}

test('time slots are correct around clock changes in every zone of the tz database', {
  timeout: 300_000,
}, () => {
  const wrong: string[] = [];
  for (const zone of zones) {
    // The last of each kind that the zone has known: forward, back, and what politics made of it.
    for (const day of changeDays(zone).slice(-3)) {
      for (const one of [day - 1, day, day + 1]) {
        const date = dateOf(one);
        const now = (one - 2) * dayMs;
        const found = both({ service: hourly, calendar: always(zone), date, now, taken: [], grainMinutes: 15 });
        if (JSON.stringify(found.fast) !== JSON.stringify(found.slow)) wrong.push(`${zone} ${date}`);
      }
    }
  }
  expect(wrong).toEqual([]);
});

function starts(
  zone: string,
  date: string,
  hours?: { from: string; to: string },
  service = { ...hourly, step_minutes: 60 },
) {
  const day = dayOf(date) as number;
  const slots = slotsOf(service, always(zone, hours), { first: day, last: day }, (day - 1) * dayMs);
  return slots.map(({ start, offset }) => localTime(start, offset));
}

test('an hour that the clock skips is not offered', () => {
  expect(starts('Europe/Berlin', '2026-03-29', { from: '00:00', to: '05:00' })).toEqual([
    '2026-03-29T00:00:00+01:00',
    '2026-03-29T01:00:00+01:00',
    '2026-03-29T03:00:00+02:00',
    '2026-03-29T04:00:00+02:00',
  ]);
});

test('a repeated hour is offered twice, distinguished by its UTC offset', () => {
  expect(starts('Europe/Berlin', '2026-10-25', { from: '01:00', to: '04:00' })).toEqual([
    '2026-10-25T01:00:00+02:00',
    '2026-10-25T02:00:00+02:00',
    '2026-10-25T02:00:00+01:00',
    '2026-10-25T03:00:00+01:00',
  ]);
});

test('opening hours keep their wall time on days of clock changes', () => {
  expect(starts('Australia/Lord_Howe', '2026-10-04', { from: '01:00', to: '05:00' })).toEqual([
    '2026-10-04T01:00:00+10:30',
    '2026-10-04T03:00:00+11:00',
    '2026-10-04T04:00:00+11:00',
  ]);
  expect(starts('America/New_York', '2026-11-01', { from: '09:00', to: '11:00' })).toEqual([
    '2026-11-01T09:00:00-05:00',
    '2026-11-01T10:00:00-05:00',
  ]);
});

test('a date that a zone skips has no time slots, unlike its neighbours', () => {
  expect(starts('Pacific/Apia', '2011-12-30')).toEqual([]);
  expect(starts('Pacific/Apia', '2011-12-29')).toHaveLength(24);
  expect(starts('Pacific/Apia', '2011-12-31')).toHaveLength(24);
});

test('a clock change across midnight closes nothing', () => {
  // 00:01 became 23:01 of the 26th.
  const quarters = { ...hourly, duration_minutes: 15, step_minutes: 15 };
  expect(starts('America/Moncton', '2002-10-27', undefined, quarters).slice(0, 3)).toEqual([
    '2002-10-27T00:00:00-03:00',
    '2002-10-27T00:00:00-04:00',
    '2002-10-27T00:15:00-04:00',
  ]);
  expect(starts('America/Moncton', '2002-10-27', { from: '00:00', to: '23:00' }, quarters)[0]).toBe(
    '2002-10-27T00:00:00-04:00',
  );
});

test('a night over two dates is open through midnight', () => {
  const night = starts('Europe/Lisbon', '2026-06-01', undefined, {
    ...hourly,
    duration_minutes: 240,
    step_minutes: 240,
  });
  expect(night.at(-1)).toBe('2026-06-01T20:00:00+01:00');
  expect(
    starts('Europe/Lisbon', '2026-06-01', { from: '22:00', to: '24:00' }, { ...hourly, duration_minutes: 180 }),
  ).toEqual([]);
});

test('spans cover the requested range without a gap', () => {
  for (const zone of ['Africa/Casablanca', 'Asia/Kathmandu', 'America/Nuuk']) {
    const stretches = offsetPeriods(zone, Date.UTC(2024, 0, 1), Date.UTC(2027, 0, 1));
    expect(stretches[0]?.from).toBe(Date.UTC(2024, 0, 1));
    expect(stretches.at(-1)?.until).toBe(Date.UTC(2027, 0, 1));
    expect(stretches.slice(1).every(({ from }, at) => from === stretches[at]?.until)).toBe(true);
  }
});
