/** Boundaries: the exact end of a hold, midnight, and the key of the hash. */
import { afterAll, expect, test } from 'vitest';
import { createBooking, visitorHash } from '#api/bookings/creation.ts';
import { siteOf } from '#api/bookings/offers.ts';
import { Booking } from '#db/bookings/booking.ts';
import { settleHold } from '#db/bookings/holds.ts';
import { bookingsWithStatus, expireDueHolds, takenSeats } from '#db/bookings/seats.ts';
import { bookingStatusAt } from '#rules/states.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture(payingEnv(9));
afterAll(() => fixture.close());

test.each([
  [-1, 'held'],
  [0, 'expired'],
] as const)('%i ms from its deadline a hold is %s for all readers', async (offMs, status) => {
  const { owner, site, publicId } = await fixture.newBookable(
    timetable({ service: { price: { amount: 100, currency: 'EUR' } } }),
  );
  await attachAccount(fixture, owner, site.id);
  const [slot] = await fixture.slots(publicId, fixture.dateIn(5));
  const em = fixture.deps.em();
  const made = { id: newId('book'), cancelSecret: newSecret('frc') };
  const wish = {
    service: 'talk',
    start: new Date(slot?.start ?? ''),
    seats: 1,
    visitor: { name: 'A', email: 'a@example.org' },
    intake: {},
  };
  const { id, holdExpiresAt, busyFrom, busyUntil, calendar } = await createBooking(
    em,
    fixture.deps,
    await siteOf(em, publicId),
    wish,
    made,
  );
  const now = new Date((holdExpiresAt?.getTime() ?? 0) + offMs);
  const span = { from: busyFrom.getTime(), until: busyUntil.getTime() };
  expect((await takenSeats(em, now, calendar.id, span)).length).toBe(status === 'held' ? 1 : 0);
  expect(await em.count(Booking, { id, ...bookingsWithStatus(status, now) } as never)).toBe(1);
  expect(bookingStatusAt(await em.fork().findOneOrFail(Booking, { id }), now)).toBe(status);
  await expireDueHolds(em, now, { calendar: calendar.id });
  expect((await em.fork().findOneOrFail(Booking, { id })).status).toBe(status);
  expect(await settleHold(em.fork(), now, id)).toMatchObject({ settled: status === 'expired', status });
});

test('a booking after midnight keeps its seat from a service of the evening before', async () => {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  const always = { capacity: 1, time_zone: 'UTC', hours: [{ days, from: '00:00', to: '24:00' }] };
  const { publicId } = await fixture.newBookable(
    timetable({ calendar: always, service: { duration_minutes: 240, step_minutes: 60 } }),
  );
  const evening = async () =>
    (await fixture.slots(publicId, fixture.dateIn(5))).map(({ start }) => start.slice(11, 13));
  expect((await evening()).slice(-4)).toEqual(['20', '21', '22', '23']);
  expect((await fixture.book(publicId, `${fixture.dateIn(6)}T01:00:00Z`)).status).toBe(200);
  expect((await evening()).slice(-4)).toEqual(['18', '19', '20', '21']);
});

test('without the key, the hash in a row does not reveal the address', () => {
  const hash = (secret: string) => visitorHash(secret, 'ada@example.org').toString('hex');
  expect(hash('one secret')).toBe(hash('one secret'));
  expect(hash('one secret')).not.toBe(hash('another secret'));
});
