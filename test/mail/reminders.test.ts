/** Reminders that wait because of the limits of e-mails, while their booking changes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelBooking } from '#api/bookings/cancellation.ts';
import { Booking } from '#db/bookings/booking.ts';
import { queueDueReminders } from '#db/bookings/change-mails.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, recordSent } from '#db/mail/queue.ts';
import { type BookingFixture, createBookingFixture } from '#test/bookings/fixture.ts';

let fixture: BookingFixture;
beforeAll(async () => {
  fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1000' });
});
afterAll(() => fixture?.close());

/** A booking whose confirmation is sent, and whose reminder is queued. */
async function reminded(wishes: object = {}) {
  const { owner, publicId } = await fixture.newBookable();
  const times = await fixture.slots(publicId, fixture.dateIn(5));
  const [start = '', later = ''] = times.map((slot) => slot.start);
  const visitor = { name: 'Ada Visitor', email: 'ada@example.org', remind: true, ...wishes };
  const { body } = await fixture.book(publicId, start, { visitor });
  const em = fixture.deps.em();
  const { mail } = await em.findOneOrFail(Booking, { id: body.id });
  await recordSent(em, fixture.clock, mail?.id ?? '');
  await em.nativeUpdate(Booking, { id: body.id }, { remindAt: fixture.clock.now() });
  expect(await queueDueReminders(fixture.deps)).toBe(1);
  const mails = async (kind: 'booking-reminder' | 'booking-moved' | 'booking-cancelled') =>
    await fixture.deps.em().find(Mail, { bookingId: body.id, kind });
  const call = (what: string, input?: object) =>
    owner.call('POST', `/v1/bookings/${body.id}/${what}`, input ? { body: input } : {});
  return { id: body.id as string, start, later, mails, call };
}

const letterOf = ({ id, sealed }: Mail) =>
  decryptLetter({ id, sealed: sealed as Uint8Array }, fixture.config.encryptionKeys);

test('a reminder expires when its booking begins', async () => {
  const { start, mails } = await reminded();
  const [reminder] = await mails('booking-reminder');
  expect(Date.parse(letterOf(reminder as Mail).until ?? '')).toBe(Date.parse(start));
});

test('a move withdraws a queued reminder and tells its recipient the new time', async () => {
  for (const wishes of [{}, { notify_changes: true }]) {
    const { later, mails, call } = await reminded(wishes);
    expect((await call('move', { start: later })).body).toMatchObject({ start: later, mail: 'queued' });
    expect(await mails('booking-reminder')).toMatchObject([{ status: 'failed', sealed: null }]);
    const moved = await mails('booking-moved');
    expect(moved.map((mail) => letterOf(mail))).toMatchObject([{ to: 'ada@example.org', data: { to: 'visitor' } }]);
  }
});

test('a cancelled booking sends no queued reminder', async () => {
  const own = await reminded();
  await cancelBooking(fixture.deps.em(), fixture.deps, own, 'visitor');
  expect(await own.mails('booking-reminder')).toMatchObject([{ status: 'failed', sealed: null }]);
  expect(await own.mails('booking-cancelled')).toEqual([]);
  const theirs = await reminded();
  expect((await theirs.call('cancel')).body).toMatchObject({ status: 'cancelled', mail: 'queued' });
  expect(await theirs.mails('booking-reminder')).toMatchObject([{ status: 'failed', sealed: null }]);
  expect((await theirs.mails('booking-cancelled')).map((mail) => letterOf(mail).to)).toEqual(['ada@example.org']);
});
