import { afterAll, expect, test } from 'vitest';
import { containsAddress } from '#rules/addresses-in-text.ts';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());
const { newBookable, anyone, book, slots, dateIn } = fixture;
const code = (answer: Answer) => errorOf(answer).code;

const wide = timetable({
  calendar: {
    capacity: 4,
    hours: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '09:00', to: '17:00' }],
  },
  service: {
    seats_max: 3,
    lead_minutes: 24 * 60,
    horizon_days: 30,
    intake: [
      { name: 'phone', label: 'Telephone', kind: 'tel', required: true },
      { name: 'topic', label: 'Topic', kind: 'select', options: ['A', 'B'] },
    ],
  },
});
const intake = { phone: '+49 30 1234' };
async function tried(more: object, start?: string) {
  const { publicId } = await newBookable(wide);
  const [slot] = await slots(publicId, dateIn(5));
  return await book(publicId, start ?? slot?.start ?? '', { intake, ...more });
}

const wrongs: [string, object, string, string?][] = [
  ['an unknown service', { service: 'walk' }, 'invalid_service'],
  ['an unknown calendar', { calendar: 'cellar' }, 'invalid_calendar'],
  ['no name', { visitor: { name: ' ', email: 'a@example.org' } }, 'invalid_visitor'],
  ['a name of two lines', { visitor: { name: 'A\nB', email: 'a@example.org' } }, 'invalid_visitor'],
  ['a host as the name', { visitor: { name: 'Win at prize.example.com', email: 'a@example.org' } }, 'invalid_visitor'],
  ['an address as the name', { visitor: { name: 'ada@example', email: 'a@example.org' } }, 'invalid_visitor'],
  ['no address', { visitor: { name: 'A' } }, 'invalid_visitor'],
  ['an invalid address', { visitor: { name: 'A', email: 'a@b' } }, 'invalid_visitor'],
  ['a missing visitor', { visitor: undefined }, 'invalid_visitor'],
  ['a missing answer', { intake: {} }, 'invalid_visitor'],
  ['an answer beyond the choices', { intake: { ...intake, topic: 'C' } }, 'invalid_visitor'],
  ['an answer to no question', { intake: { ...intake, shoe: '42' } }, 'invalid_visitor'],
  ['more seats than allowed', { seats: 4 }, 'invalid_json'],
  ['an invalid start', { start: 'tomorrow' }, 'invalid_slot'],
  ['a start without its UTC offset', { start: '2027-01-01T10:00:00' }, 'invalid_slot'],
  ['an unknown field', { coupon: 'x' }, 'invalid_json'],
];
test.each(wrongs)('a booking with %s is refused', async (_what, more, expected) => {
  const answer = await tried(more);
  expect(code(answer)).toBe(expected);
});

const starts: [string, string][] = [
  ['a time between two starts', `${dateIn(5)}T09:30:00+01:00`],
  ['a time outside the hours', `${dateIn(5)}T03:00:00+01:00`],
  ['a time too soon', new Date(fixture.clock.now().getTime() + 3600_000).toISOString()],
  ['a time too far away', `${dateIn(40)}T09:00:00Z`],
  ['a time long ago', '2001-01-01T09:00:00Z'],
  ['a time at the end of time', '9999-12-31T23:00:00Z'],
];
test.each(starts)('%s is not a start time', async (_what, start) => {
  expect(code(await tried({}, start))).toBe('invalid_slot');
});

test('a visitor’s name that contains a host or an address is recognised', () => {
  const names = ['Dr.Müller', 'J.R.R. Tolkien', 'St.John', 'Anna-Lena & Bo', '王小明', 'O’Brien, Jr.'];
  expect(names.filter(containsAddress)).toEqual([]);
  const addresses = [
    'evil.com',
    'see WWW.evil.com/x',
    '(evil.co.uk)',
    'Confirm at evil.com!',
    '“evil.com”',
    'Pay:evil.com',
    '*evil.com*',
    'evil。com',
    'ｅｖｉｌ.com',
    '192.0.2.1',
    'a＠b',
    // Invisible characters.
    'evil\u200b.com',
    'evil.c\u00adom',
    'ev\u2060il.com',
  ];
  expect(addresses.filter(containsAddress)).toEqual(addresses);
});

test('all faults of a visitor’s input are reported together', async () => {
  const { message } = errorOf(await tried({ visitor: { name: 'A', email: 'x' }, intake: { topic: 'C' } }));
  expect(message).toMatch(/address.*Telephone.*Topic/s);
});

test('days and time slots of unknown services or invalid dates are refused', async () => {
  const { publicId } = await newBookable(wide);
  const get = async (path: string) => code(await anyone('GET', `/b/${publicId}${path}`));
  expect(await get('/slots?service=walk&date=2026-01-01')).toBe('invalid_service');
  expect(await get('/slots?date=2026-01-01')).toBe('invalid_service');
  expect(await get('/days?service=talk&calendar=cellar')).toBe('invalid_calendar');
  expect(await get('/slots?service=talk&date=2026-02-30')).toBe('invalid_input');
  expect(await get('/slots?service=talk')).toBe('invalid_input');
  expect(await get('/days?service=talk&from=2026-01-01&to=2026-04-04')).toBe('invalid_input');
  expect(await get('/days?service=talk&from=2026-01-02&to=2026-01-01')).toBe('invalid_input');
  expect((await anyone('GET', `/b/${publicId}/days?service=talk&from=2026-01-01&to=2026-04-03`)).status).toBe(200);
  expect(code(await anyone('GET', '/b/0000000000000000'))).toBe('not_found');
});

test('without payments a priced service cannot be booked, and its declaration tells the owner', async () => {
  const priced = timetable({ service: { price: { amount: 2500, currency: 'EUR' } } });
  const { publicId, bookable } = await newBookable(priced);
  expect(bookable.next_action).toContain('talk');
  const [slot] = await slots(publicId, dateIn(5));
  expect(code(await book(publicId, slot?.start ?? ''))).toBe('payments_unavailable');
  expect((await anyone('GET', `/b/${publicId}`)).body.services[0].open).toBe(false);
  expect(await slots(publicId, dateIn(5))).toContainEqual(slot);
});
