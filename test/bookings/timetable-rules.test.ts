/** The rules of timetables by themselves: faults with their place, dates, time zones, and bookings that conflict. */
import { expect, test } from 'vitest';
import { timesFault } from '#rules/bookings/bounds.ts';
import { type BookedSpan, conflictingBookings } from '#rules/bookings/conflicts.ts';
import { dateOf, dayOf, timeOf, weekdayOf } from '#rules/bookings/dates.ts';
import { faultOf, type Timetable } from '#rules/bookings/faults.ts';
import { occupancyOf, peakOccupancy } from '#rules/bookings/occupancy.ts';
import { isoLocal, isZone } from '#rules/bookings/time-zones.ts';
import { type Calendar, type Service, type WeeklyHours, weekdays } from '#rules/bookings/timetable.ts';
import { dayMs, hourMs, minuteMs } from '#rules/time.ts';

const open = (from: string, to: string, days: WeeklyHours['days'] = [...weekdays]): WeeklyHours => ({ days, from, to });
const calendar = (more: Partial<Calendar> = {}): Calendar => {
  const opening = { time_zone: 'Europe/Berlin', hours: [open('09:00', '17:00')], exceptions: [] };
  return { key: 'room', name: 'Room', capacity: 2, ...opening, ...more };
};
const service = (more: Partial<Service> = {}): Service => ({
  ...{ key: 'talk', name: 'Talk', calendar_keys: ['room'], seats_max: 1, price: null, hold_minutes: 15, intake: [] },
  ...{ duration_minutes: 60, step_minutes: 60, buffer_before_minutes: 0, buffer_after_minutes: 0 },
  ...{ lead_minutes: 0, horizon_days: 60 },
  ...more,
});
const timetable = (of: Partial<Calendar> = {}, more: Partial<Service> = {}): Timetable => {
  return { calendars: [calendar(of)], services: [service(more)] };
};
const exceptions = (...hours: { from: string; to: string }[]) => ({ exceptions: [{ date: '2026-12-24', hours }] });
const holiday = (from: string, to?: string) => ({
  exceptions: [{ from, ...(to === undefined ? {} : { to }), hours: [] }],
});

test.each<[Timetable, string | undefined, string?]>([
  [timetable(), undefined],
  [timetable({ hours: [open('00:00', '24:00')] }), undefined],
  [timetable({ hours: [open('09:00', '12:00'), open('12:00', '13:00')] }), undefined],
  [timetable({ hours: [open('13:00', '14:00'), open('09:00', '13:01')] }), 'calendars.0.hours', 'on mon two windows'],
  [timetable({ hours: [open('08:60', '10:00')] }), 'calendars.0.hours.0', 'must be written as HH:MM'],
  [timetable({ hours: [open('08:00', '24:01')] }), 'calendars.0.hours.0', 'must be written as HH:MM'],
  [timetable({ hours: [open('09:00', '09:00')] }), 'calendars.0.hours.0', 'it ends before it begins'],
  [timetable({ time_zone: '+02:00' }), 'calendars.0.time_zone', 'this is not a time zone name'],
  [timetable({ time_zone: 'europe/berlin' }), 'calendars.0.time_zone', 'this is not a time zone name'],
  [timetable(exceptions()), undefined],
  [timetable(exceptions({ from: '9', to: '10:00' })), 'calendars.0.exceptions.0.hours.0', 'must be written as HH:MM'],
  [
    timetable(exceptions({ from: '09:00', to: '11:00' }, { from: '10:00', to: '12:00' })),
    'calendars.0.exceptions.0.hours',
    'two windows overlap at 10:00',
  ],
  [timetable({ exceptions: [{ date: '2026-02-30', hours: [] }] }), 'calendars.0.exceptions.0.date', 'not a date'],
  [
    timetable({ exceptions: [...exceptions().exceptions, ...exceptions().exceptions] }),
    'calendars.0.exceptions',
    '2026-12-24 occurs more than once',
  ],
  [timetable(holiday('2026-08-01', '2026-08-21')), undefined],
  [timetable(holiday('2026-08-01', '2026-08-01')), undefined],
  [timetable(holiday('2026-08-02', '2026-08-01')), 'calendars.0.exceptions.0.to', 'before from'],
  [timetable(holiday('2026-08-01', '2028-08-01')), 'calendars.0.exceptions.0.to', 'at most 731 days'],
  [timetable(holiday('2026-08-01')), 'calendars.0.exceptions.0', 'either date, or from and to'],
  [timetable(holiday('2026-08-01', '2026-08-32')), 'calendars.0.exceptions.0.to', 'not a date'],
  [timetable({ exceptions: [{ hours: [] }] }), 'calendars.0.exceptions.0', 'either date, or from and to'],
  [
    timetable({ exceptions: [{ date: '2026-08-21', hours: [] }, ...holiday('2026-08-01', '2026-08-21').exceptions] }),
    'calendars.0.exceptions',
    '2026-08-21 occurs more than once',
  ],
  [timetable({}, { seats_max: 2 }), undefined],
  [timetable({}, { seats_max: 3 }), 'services.0.seats_max', 'its largest calendar has 2'],
  [{ ...timetable(), calendars: [calendar(), calendar()] }, 'calendars', 'room occurs more than once'],
  [{ ...timetable(), services: [service(), service()] }, 'services', 'talk occurs more than once'],
  [timetable({}, { calendar_keys: ['room', 'room'] }), 'services.0.calendar_keys', 'room occurs more than once'],
  [timetable({}, { calendar_keys: ['hall'] }), 'services.0.calendar_keys', 'no calendar with the key hall'],
  [
    timetable({}, { price: { amount: 1, currency: 'XYZ', per: 'booking' } }),
    'services.0.price.currency',
    'not an ISO 4217 currency',
  ],
  [timetable({}, { price: { amount: 1, currency: 'EUR', per: 'booking' } }), undefined],
])('a timetable has its first fault at its place (%#)', (given, where, what) => {
  const fault = faultOf(given);
  expect(fault?.where).toBe(where);
  if (what !== undefined) expect(fault?.what).toContain(what);
});

test('dates and times are read strictly', () => {
  expect(['2026-02-28', '2026-02-29', '2026-2-28', 'x'].map(dayOf)).toEqual([20_512, undefined, undefined, undefined]);
  expect([dateOf(20_512), weekdayOf(20_512), weekdayOf(-1), weekdayOf(0)]).toEqual(['2026-02-28', 'sat', 'wed', 'thu']);
  expect(['00:00', '09:59', '24:00'].map(timeOf)).toEqual([0, 599 * minuteMs, 24 * hourMs]);
  expect(['09:60', '24:01', '9:00', '09:00:00'].map(timeOf)).toEqual(Array(4).fill(undefined));
});

test('a time zone is a name, and local times have its offset', () => {
  expect(['Europe/Berlin', 'UTC', 'europe/berlin', '+02:00', 'Mars/Olympus'].map(isZone)).toEqual([
    ...[true, true],
    ...[false, false, false],
  ]);
  expect(isoLocal('Europe/Berlin', Date.UTC(2026, 6, 1, 10))).toBe('2026-07-01T12:00:00+02:00');
  expect(isoLocal('America/St_Johns', Date.UTC(2026, 0, 1, 10))).toBe('2026-01-01T06:30:00-03:30');
});

test('seats are counted from the first moment of a booking until its end', () => {
  const load = occupancyOf([
    { from: 10, until: 20, seats: 2 },
    { from: 15, until: 30, seats: 1 },
    { from: 20, until: 25, seats: 1 },
  ]);
  const peaks = [
    [0, 10],
    [0, 11],
    [10, 15],
    [12, 16],
    [20, 30],
    [25, 26],
    [30, 40],
  ];
  const counted = peaks.map(([from = 0, until = 0]) => peakOccupancy(load, { from, until }));
  expect(counted).toEqual([0, 2, 2, 3, 2, 1, 0]);
});

test('bookings conflict with a timetable without their calendar, service, hours or seats', () => {
  const at = (hour: number, more: Partial<BookedSpan> = {}): BookedSpan => {
    const span = { from: Date.UTC(2026, 6, 1, hour), until: Date.UTC(2026, 6, 1, hour + 1) };
    return { id: `at ${hour}`, calendar: 'room', service: 'talk', seats: 1, ...span, booked: span, ...more };
  };
  const bookings = [
    ...[at(7), at(6), at(15), at(8, { id: 'hall', calendar: 'hall' }), at(8, { id: 'walk', service: 'walk' })],
    ...[at(10, { id: 'one', seats: 2 }), at(10, { id: 'other' }), at(12, { seats: 2 })],
  ];
  expect(Object.fromEntries(conflictingBookings(timetable(), bookings))).toEqual({
    'at 6': 'the calendar room is closed at that time',
    'at 15': 'the calendar room is closed at that time',
    hall: 'there is no calendar hall',
    walk: 'there is no service walk in calendar room',
    one: 'the calendar room has too few seats left',
    other: 'the calendar room has too few seats left',
  });
});

test('thousands of bookings in many short hours are compared within a second', () => {
  const at = (n: number) => `${String(Math.floor(n / 6)).padStart(2, '0')}:${n % 6}`;
  const hours = Array.from({ length: 100 }, (_, n) => open(`${at(n)}0`, `${at(n)}5`));
  const first = Date.UTC(2026, 6, 1, 8);
  const bookings = Array.from({ length: 5000 }, (_, n): BookedSpan => {
    const from = first + (n === 0 ? 0 : 728 + (n % 3)) * dayMs + (n % 2) * 5 * minuteMs;
    const booked = { from, until: from + 5 * minuteMs };
    return { id: `${n}`, calendar: 'room', service: 'talk', seats: 1, ...booked, booked };
  });
  const began = process.cpuUsage();
  const found = conflictingBookings(timetable({ hours, time_zone: 'UTC', capacity: 10_000 }), bookings);
  const { user, system } = process.cpuUsage(began);
  expect([...found.keys()]).toEqual(bookings.filter((_, n) => n % 2 === 1).map(({ id }) => id));
  expect((user + system) / 1000).toBeLessThan(1000);
});

test('an imported booking has possible times, and is at most 730 days ahead', () => {
  const [hourMs, now] = [3600_000, Date.UTC(2026, 10, 23)];
  const at = (days: number, hours = 1, more: object = {}) => {
    const starts = now + days * 24 * hourMs;
    return { starts, ends: starts + hours * hourMs, busyFrom: starts, busyUntil: starts + hours * hourMs, ...more };
  };
  const faults = [
    at(-3000),
    at(730),
    at(5, 96),
    at(733),
    at(5, 0),
    at(5, 97),
    at(5, 1, { busyFrom: now + 121 * hourMs }),
  ];
  expect(faults.map((times) => timesFault(times, now))).toEqual([
    undefined,
    undefined,
    undefined,
    'starts more than 730 days ahead',
    'ends before it starts',
    'lasts longer than 4 days',
    'keeps less than its own time free',
  ]);
});
