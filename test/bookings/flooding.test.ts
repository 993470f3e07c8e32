/** Visitors and programs that book far more than a visitor would. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { type BookingFixture, createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

let fixture: BookingFixture;
beforeAll(async () => {
  fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1' });
});
afterAll(() => fixture?.close());

/** Two rooms with many seats. */
const roomy = () => {
  const { calendars, services } = timetable({ calendar: { capacity: 100 } });
  const [room, service] = [calendars[0], services[0]];
  return {
    calendars: [room, { ...room, key: 'hall' }],
    services: [{ ...service, calendar_keys: ['room', 'hall'] }],
  };
};
async function newSite() {
  const made = await fixture.newBookable(roomy());
  const [slot] = await fixture.slots(made.publicId, fixture.dateIn(9), '&calendar=room');
  return { ...made, start: slot?.start ?? '' };
}
const code = (answer: Answer) => (answer.status === 200 ? 'booked' : errorOf(answer).code);

test('a visitor has at most five free bookings of a site, until one ends', async () => {
  const { publicId, start, owner } = await newSite();
  const visitor = { name: 'Ada Visitor', email: 'ada@example.org' };
  const book = (n: number, email = visitor.email) =>
    fixture.book(publicId, start, { calendar: ['room', 'hall'][n % 2], visitor: { ...visitor, email } });
  const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => book(n)));
  const refused = answers.filter(({ status }) => status !== 200);
  expect(refused.map(code)).toEqual(['rate_limited', 'rate_limited', 'rate_limited']);
  expect(Number(refused[0]?.headers.get('retry-after'))).toBeGreaterThan(7 * 24 * 3600);
  expect(code(await book(0, 'other@example.org'))).toBe('booked');
  const other = await newSite();
  expect(code(await fixture.book(other.publicId, other.start, { calendar: 'room', visitor }))).toBe('booked');
  const [kept] = answers.filter(({ status }) => status === 200);
  await owner.call('POST', `/v1/bookings/${kept?.body.id}/cancel`);
  expect([code(await book(0)), code(await book(1))]).toEqual(['booked', 'rate_limited']);
});
