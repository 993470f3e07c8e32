import { afterAll, expect, test } from 'vitest';
import { cancelBooking } from '#api/bookings/cancellation.ts';
import { Booking } from '#db/bookings/booking.ts';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { untilBlocked } from '#test/stack/until.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());
const { newBookable, book, slots, dateIn } = fixture;

async function booked() {
  const made = await newBookable(timetable({ calendar: { capacity: 2 }, service: { seats_max: 2 } }));
  const start = (await slots(made.publicId, dateIn(5)))[0]?.start ?? '';
  const { body } = await book(made.publicId, start, { seats: 2 });
  return { ...made, start, id: body.id as string };
}

test('a site’s member cancels a live booking, and its seats are free at once', async () => {
  const { owner, site, publicId, start, id } = await booked();
  const guest = await fixture.newCollaborator(owner, site.id);
  expect(errorOf(await book(publicId, start)).code).toBe('slot_taken');
  const { body } = await guest.call('POST', `/v1/bookings/${id}/cancel`);
  expect(body).toMatchObject({ id, status: 'cancelled', seats: 2, cancelled_at: expect.stringMatching(/Z$/) });
  expect((await slots(publicId, dateIn(5)))[0]).toMatchObject({ start, seats_left: 2 });
  expect((await book(publicId, start, { seats: 2 })).status).toBe(200);
});

test('a cancelled booking cannot be cancelled again, and keeps its time', async () => {
  const { owner, id } = await booked();
  const first = await owner.call('POST', `/v1/bookings/${id}/cancel`);
  const error = errorOf(await owner.call('POST', `/v1/bookings/${id}/cancel`));
  expect([error.code, error.retryable]).toEqual(['not_cancellable', false]);
  expect((await owner.call('GET', `/v1/bookings/${id}`)).body.cancelled_at).toBe(first.body.cancelled_at);
});

test('concurrent cancellations cancel once and notify the site once', async () => {
  const { owner, id, publicId } = await booked();
  const em = () => fixture.deps.em();
  const booking = await em().findOneOrFail(Booking, { id });
  const mails = async () => (await em().execute(`select 1 from mail where kind = 'booking-cancelled'`)).length;
  const before = await mails();
  const tries = await Promise.allSettled([
    ...Array.from({ length: 8 }, () => cancelBooking(em(), fixture.deps, booking, 'visitor')),
    ...Array.from({ length: 8 }, () => owner.call('POST', `/v1/bookings/${id}/cancel`)),
  ]);
  const succeeded = tries.filter(
    (one) => one.status === 'fulfilled' && (!('text' in one.value) || one.value.status === 200),
  );
  expect(succeeded).toHaveLength(1);
  expect((await mails()) - before).toBe(1);
  expect((await slots(publicId, dateIn(5)))[0]).toMatchObject({ seats_left: 2 });
});

test('a cancellation repeated under its Idempotency-Key returns the same booking', async () => {
  const { owner, id } = await booked();
  const headers = { 'idempotency-key': 'cancel-once' };
  const first = await owner.call('POST', `/v1/bookings/${id}/cancel`, { headers });
  const again = await owner.call('POST', `/v1/bookings/${id}/cancel`, { headers });
  expect([again.status, again.body]).toEqual([200, first.body]);
});

test('a cancellation whose answer was lost is answered when it is sent again', async () => {
  const { owner, id } = await booked();
  const headers = { 'idempotency-key': 'cancel-lost' };
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await owner.call('POST', `/v1/bookings/${id}/cancel`, { headers })).status).toBe(500);
  restore();
  const again = await owner.call('POST', `/v1/bookings/${id}/cancel`, { headers });
  expect([again.status, again.body.status]).toEqual([200, 'cancelled']);
  expect(fixture.takeUnexpected()).toHaveLength(1);
});

test('concurrent cancellations and bookings never oversell a seat', async () => {
  const { owner, publicId, start, id } = await booked();
  const answers = await Promise.all([
    owner.call('POST', `/v1/bookings/${id}/cancel`),
    ...Array.from({ length: 12 }, () => book(publicId, start)),
  ]);
  const got = answers.slice(1).filter(({ status }) => status === 200).length;
  expect(got).toBeLessThanOrEqual(2);
  const left = (await slots(publicId, dateIn(5))).find((slot) => slot.start === start)?.seats_left ?? 0;
  expect(left).toBe(2 - got);
});

test('of two cancellations during the booking, one succeeds and the other reports it', async () => {
  const { owner, id } = await booked();
  let answers: Promise<Answer[]> | undefined;
  await fixture.deps.em().transactional(async (tx) => {
    await tx.execute('select 1 from booking where id = ? for update', [id]);
    answers = Promise.all([1, 2].map(() => owner.call('POST', `/v1/bookings/${id}/cancel`)));
    await untilBlocked(fixture.deps, 2);
  });
  const statuses = ((await answers) as Answer[]).map(({ status }) => status);
  expect(statuses.sort()).toEqual([200, 409]);
});
