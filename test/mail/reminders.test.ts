/** Reminders that wait because of the limits of e-mails, while their booking changes. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { cancelBooking } from '#api/bookings/cancellation.ts';
import { Booking } from '#db/bookings/booking.ts';
import { queueDueReminders } from '#db/bookings/change-mails.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter, recordSent, withText } from '#db/mail/queue.ts';
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
    await fixture.deps.em().find(Mail, { bookingId: body.id, kind }, withText);
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

test('a change withdraws a confirmation that its reminder has overtaken', async () => {
  const { owner, site, publicId } = await fixture.newBookable();
  const [start = '', later = ''] = (await fixture.slots(publicId, fixture.dateIn(5))).map((slot) => slot.start);
  const visitor = { name: 'Ada Visitor', email: 'ada@example.org', remind: true };
  const { body } = await fixture.book(publicId, start, { visitor });
  const em = fixture.deps.em();
  await em.nativeUpdate(Booking, { id: body.id }, { remindAt: fixture.clock.now() });
  expect(await queueDueReminders(fixture.deps)).toBe(1);
  const waiting = async () => {
    const queued = await fixture.deps.em().find(Mail, { siteId: site.id, status: 'queued' }, withText);
    return queued.flatMap((mail) => (letterOf(mail).to === visitor.email ? [mail.kind] : [])).sort();
  };
  expect(await waiting()).toEqual(['booking-confirmed', 'booking-reminder']);
  await owner.call('POST', `/v1/bookings/${body.id}/move`, { body: { start: later } });
  expect(await waiting()).toEqual(['booking-moved']);
  await owner.call('POST', `/v1/bookings/${body.id}/cancel`);
  expect(await waiting()).toEqual(['booking-cancelled']);
});

test('e-mails that replace an unsent one repeat the visitor’s time zone', async () => {
  const time_zone = 'America/New_York';
  const zoned = { data: { to: 'visitor', visitorZone: time_zone } };
  const moved = await reminded({ time_zone });
  await moved.call('move', { start: moved.later });
  expect((await moved.mails('booking-moved')).map((mail) => letterOf(mail))).toMatchObject([zoned]);
  const cancelled = await reminded({ time_zone });
  await cancelled.call('cancel');
  expect((await cancelled.mails('booking-cancelled')).map((mail) => letterOf(mail))).toMatchObject([zoned]);

  // The confirmation is unsent.
  const { owner, publicId } = await fixture.newBookable();
  const [start = '', later = ''] = (await fixture.slots(publicId, fixture.dateIn(5))).map((slot) => slot.start);
  const visitor = { name: 'Ada Visitor', email: 'ada@example.org', time_zone };
  const { id } = (await fixture.book(publicId, start, { visitor })).body;
  for (const [act, body] of [['move', { start: later }], ['cancel']] as const)
    await owner.call('POST', `/v1/bookings/${id}/${act}`, body ? { body } : {});
  const [last] = await fixture.deps.em().find(Mail, { bookingId: id, kind: 'booking-cancelled' }, withText);
  expect(letterOf(last as Mail)).toMatchObject(zoned);
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

test('a moved booking is reminded of its new time, once', async () => {
  const { owner, publicId } = await fixture.newBookable();
  const [start = ''] = (await fixture.slots(publicId, fixture.dateIn(4))).map((slot) => slot.start);
  const [later = ''] = (await fixture.slots(publicId, fixture.dateIn(8))).map((slot) => slot.start);
  const visitor = { name: 'Ada Visitor', email: 'ada@example.org', remind: true };
  const { body } = await fixture.book(publicId, start, { visitor });
  const em = fixture.deps.em();
  const { mail } = await em.findOneOrFail(Booking, { id: body.id });
  await recordSent(em, fixture.clock, mail?.id ?? '');
  const moved = await owner.call('POST', `/v1/bookings/${body.id}/move`, { body: { start: later } });
  // Asked to be reminded only.
  expect(moved.body).toMatchObject({
    start: later,
    next_action: expect.stringContaining('sends the visitor no e-mail'),
  });
  const skipTo = (moment: number) => fixture.skip(moment - fixture.clock.now().getTime());
  const dayMs = 86_400_000;
  skipTo(Date.parse(start) - dayMs + 60_000);
  expect(await queueDueReminders(fixture.deps)).toBe(0);
  skipTo(Date.parse(later) - dayMs - 60_000);
  expect(await queueDueReminders(fixture.deps)).toBe(0);
  skipTo(Date.parse(later) - dayMs + 60_000);
  expect([await queueDueReminders(fixture.deps), await queueDueReminders(fixture.deps)]).toEqual([1, 0]);
  const reminders = await fixture.deps.em().find(Mail, { bookingId: body.id, kind: 'booking-reminder' }, withText);
  const letters = reminders.map((one) => letterOf(one));
  expect(letters.map(({ to, data }) => [to, Date.parse((data as { start: string }).start)])).toEqual([
    ['ada@example.org', Date.parse(later)],
  ]);
});

test('a booking of the site’s people e-mails changes if they ask for it', async () => {
  const { owner, site, publicId } = await fixture.newBookable();
  const [start = '', later = ''] = (await fixture.slots(publicId, fixture.dateIn(5))).map((slot) => slot.start);
  const visitor = { name: 'Carla', email: 'carla@example.org', notify_changes: true, remind: true };
  const body = { kind: 'booking', calendar: 'room', service: 'talk', start, visitor };
  const { id } = (await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body })).body;
  const em = fixture.deps.em();
  const kept = async () =>
    await em.execute('select remind_at from booking join prepared_mail on booking_id = id where id = ?', [id]);
  expect(await kept()).toEqual([{ remind_at: expect.anything() }]);
  await em.execute(`update mail set status = 'sent', sealed = null, settled_at = now() where site_id = ?`, [site.id]);
  const moved = (await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: later } })).body;
  const cancelled = (await owner.call('POST', `/v1/bookings/${id}/cancel`)).body;
  for (const answer of [moved, cancelled]) expect([answer.mail, answer.next_action]).toEqual(['queued', undefined]);
  expect(await kept()).toEqual([]);
});
