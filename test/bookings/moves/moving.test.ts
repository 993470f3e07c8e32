/** Moves of bookings and blocks by the site's people. */
import { randomUUID } from 'node:crypto';
import ICAL from 'ical.js';
import { afterAll, describe, expect, test } from 'vitest';
import { cancelBooking } from '#api/bookings/cancellation.ts';
import { decryptLetter } from '#db/mail/queue.ts';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { daily, timetable } from '#test/bookings/timetable.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { writeMail } from '#web/mails/mails.ts';

const fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1000', ...payingEnv(9) });
afterAll(() => fixture.close());
const { newBookable, book, slots, dateIn } = fixture;
const codeOf = (answer: Answer) => (answer.status === 200 ? 'made' : errorOf(answer).code);
const em = () => fixture.deps.em();

const rooms = (capacity: number, service: object = {}) => {
  const calendar = { time_zone: 'Europe/Berlin', hours: daily };
  const input = timetable({ service: { calendar_keys: ['room', 'hall'], seats_max: capacity, ...service } });
  return {
    ...input,
    calendars: ['room', 'hall'].map((key) => ({ ...calendar, key, name: key, capacity })),
  };
};

/** A booking at the first of the times, in the room. */
async function booked(capacity = 1, service: object = {}, more: object = {}) {
  const made = await newBookable(rooms(capacity, service));
  const { owner, publicId, site } = made;
  if ('price' in service) await attachAccount(fixture, owner, site.id);
  const times = await slots(publicId, dateIn(5), '&calendar=room');
  const [first = '', second = '', third = ''] = times.map(({ start }) => start);
  const at = (start: string, calendar = 'room', other: object = {}) => book(publicId, start, { calendar, ...other });
  const { body } = await at(first, 'room', more);
  const move = (input: object, headers: Record<string, string> = {}) =>
    owner.call('POST', `/v1/bookings/${body.id}/move`, { body: input, headers });
  const left = async (start: string, calendar = 'room') =>
    (await slots(publicId, dateIn(5), `&calendar=${calendar}`)).find((slot) => slot.start === start)?.seats_left ?? 0;
  return { ...made, first, second, third, at, booking: body, move, left };
}

describe('a move', () => {
  test('keeps service, reference and payment, frees the old seats and takes the new', async () => {
    const { owner, site, booking, first, second, move, left } = await booked(2);
    const guest = await fixture.newCollaborator(owner, site.id);
    const { status, body } = await guest.call('POST', `/v1/bookings/${booking.id}/move`, {
      body: { start: second, calendar: 'hall', seats: 2 },
    });
    expect([status, body]).toMatchObject([
      200,
      { id: booking.id, reference: booking.reference, service: 'talk', calendar: 'hall', start: second, seats: 2 },
    ]);
    expect([await left(first), await left(second), await left(second, 'hall')]).toEqual([2, 2, 0]);
    const history = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body.items[0];
    expect(history).toMatchObject({ action: 'booking.moved', detail: { calendar: 'hall', seats: 2 } });
    // The same place again is no move.
    const same = await move({ start: second, calendar: 'hall', seats: 2 });
    expect([same.status, same.body.next_action]).toEqual([200, undefined]);
    expect((await owner.call('GET', `/v1/sites/${site.id}/history`)).body.items[0].id).toBe(history.id);
  });

  test('may overlap the old time, whose seats it gives up', async () => {
    const { booking, move, first } = await booked(1, { step_minutes: 30 });
    const later = new Date(Date.parse(first) + 1800_000).toISOString();
    expect((await move({ start: later })).body).toMatchObject({ id: booking.id, status: 'confirmed' });
  });

  test('is refused without seats, off the timetable, and once it is over', async () => {
    const { owner, booking, first, second, third, at, move } = await booked(1, { lead_minutes: 60 });
    expect((await at(second)).status).toBe(200);
    const cases: [object, string][] = [
      [{ start: second }, 'slot_taken'],
      [{ start: third, seats: 2 }, 'slot_taken'],
      [{ start: new Date(Date.parse(third) + 60_000).toISOString() }, 'invalid_slot'],
      [{ start: `${dateIn(-3)}T10:00:00Z` }, 'invalid_slot'],
      [{ start: third, calendar: 'attic' }, 'invalid_calendar'],
      [{ start: 'soon' }, 'invalid_slot'],
      [{ calendar: 'hall' }, 'invalid_slot'],
    ];
    for (const [input, code] of cases) expect([input, codeOf(await move(input))]).toEqual([input, code]);
    expect((await owner.call('GET', `/v1/bookings/${booking.id}`)).body.start).toBe(first);
    await owner.call('POST', `/v1/bookings/${booking.id}/cancel`);
    expect(codeOf(await move({ start: third }))).toBe('not_cancellable');
    const other = await booked();
    await em().execute(
      `update booking set starts_at = now() - interval '2 hours', ends_at = now() - interval '1 hour',
         busy_from = now() - interval '2 hours', busy_until = now() - interval '1 hour' where id = ?`,
      [other.booking.id],
    );
    expect(codeOf(await other.move({ start: other.second }))).toBe('not_cancellable');
    expect(codeOf(await owner.call('POST', `/v1/bookings/${other.booking.id}/move`, { body: { start: third } }))).toBe(
      'not_found',
    );
  });

  test('of a held booking leaves its payment and its deadline untouched', async () => {
    const { owner, booking, second, move } = await booked(1, { price: { amount: 1000, currency: 'EUR' } });
    // Its description names the time.
    const payment = async () => ({
      ...(await owner.call('GET', `/v1/payments/${booking.payment_id}`)).body,
      description: null,
    });
    const before = await payment();
    const { body } = await move({ start: second });
    const { hold_expires_at, payment_id, pay_url } = booking;
    expect(body).toMatchObject({ status: 'held', start: second, hold_expires_at, payment_id, pay_url });
    expect(await payment()).toEqual(before);
    await em().execute('update booking set hold_expires_at = now() where id = ?', [booking.id]);
    expect(codeOf(await move({ start: second }))).toBe('not_cancellable');
  });

  test('whose answer was lost is not made again, after a later one', async () => {
    const { second, third, move } = await booked();
    const again = () => move({ start: second }, { 'idempotency-key': 'lost' });
    const restore = loseNextAnswer(fixture, 'transactional');
    expect((await again()).status).toBe(500);
    restore();
    expect((await move({ start: third })).body.start).toBe(third);
    expect((await again()).body.start).toBe(third);
    expect(fixture.takeUnexpected()).toHaveLength(1);
  });

  test('of a block keeps its length and the whole calendar', async () => {
    const { owner, site, second, third, left } = await booked(3);
    const end = new Date(Date.parse(second) + 1800_000).toISOString();
    const body = { kind: 'block', calendar: 'hall', start: second, end };
    const block = (await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body })).body;
    const start = new Date(Date.parse(third) + 600_000).toISOString();
    const moved = await owner.call('POST', `/v1/bookings/${block.id}/move`, { body: { start } });
    expect(moved.body).toMatchObject({ kind: 'block', calendar: 'hall', seats: 3 });
    expect(Date.parse(moved.body.end) - Date.parse(moved.body.start)).toBe(1800_000);
    expect([await left(second, 'hall'), await left(third, 'hall')]).toEqual([3, 0]);
    expect(moved.body.next_action).toBeUndefined();
  });
});

test('moves e-mail notify_to, and a visitor whose confirmation is unsent', async () => {
  const { booking, bookable, site, first, second, third, move } = await booked();
  const mails = async () =>
    await em().execute<{ id: string; kind: string; status: string; sealed: Buffer | null; failure: string | null }[]>(
      'select id, kind, status, sealed, failure from mail where site_id = ? order by id',
      [site.id],
    );
  const { body } = await move({ start: second });
  expect(body).toMatchObject({ mail: 'queued', start: second });
  expect(body.next_action).toBeUndefined();
  await move({ start: third });
  const made = await mails();
  // Each move made a notice and an e-mail to the visitor, and replaced those of the one before.
  expect(made.filter(({ kind }) => kind === 'booking-moved')).toHaveLength(4);
  expect(made.filter(({ failure }) => failure === 'a later move replaced it')).toMatchObject([
    { kind: 'booking-moved', status: 'failed', sealed: null },
  ]);
  const letters = made.flatMap(({ id, kind, sealed }) =>
    sealed ? [{ kind, ...decryptLetter({ id, sealed }, fixture.config.encryptionKeys) }] : [],
  );
  const moved = letters.filter(({ kind }) => kind === 'booking-moved');
  expect(moved.map(({ to }) => to)).toEqual([bookable.notify_to, 'ada@example.org']);
  const [toSite, toVisitor] = moved.map(({ data }) =>
    writeMail('booking-moved', data as never, { baseUrl: fixture.config.baseUrl }),
  );
  expect(toSite?.text).toContain('Ada Visitor');
  expect(toVisitor?.text).toContain('/cancel/');
  const file = toVisitor?.attachments?.[0]?.content ?? '';
  const event = new ICAL.Event(new ICAL.Component(ICAL.parse(file)).getFirstSubcomponent('vevent') as never);
  expect([event.uid, event.sequence]).toEqual([`${booking.id}@localhost`, 2]);
  expect(event.startDate.toJSDate().getTime()).toBe(Date.parse(third));

  // Once the visitor's mail is sent, the response says who has to tell them.
  await em().execute(
    `update mail set status = 'sent', sealed = null, settled_at = now() where status = 'queued' and site_id = ?`,
    [site.id],
  );
  const late = (await move({ start: first })).body;
  expect(late.next_action).toContain(`Ask ${bookable.notify_to} to tell Ada Visitor`);
  expect(late.next_action).toContain(booking.reference);
  // The same move again, perhaps because the answer was lost, says it again.
  expect((await move({ start: first })).body.next_action).toBe(late.next_action);
  const headers = { 'idempotency-key': randomUUID() };
  const [keyed, repeated] = [await move({ start: second }, headers), await move({ start: second }, headers)];
  expect(repeated.body).toEqual(keyed.body);
  expect(keyed.body.next_action).toBe(late.next_action);
});

describe('concurrent moves', () => {
  test('to one seat succeed once, beside visitors who want it', async () => {
    const { owner, site, publicId, second, third, at, left } = await booked(4);
    const made = await Promise.all(Array.from({ length: 4 }, () => at(second, 'hall')));
    const narrow = { ...rooms(4), confirm: true };
    (narrow.calendars[0] as { capacity: number }).capacity = 1;
    expect(codeOf(await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: narrow }))).toBe('made');
    const answers = await Promise.all([
      ...made.map(({ body }) =>
        owner.call('POST', `/v1/bookings/${body.id}/move`, { body: { start: third, calendar: 'room' } }),
      ),
      ...Array.from({ length: 4 }, () => book(publicId, third, { calendar: 'room' })),
    ]);
    const codes = answers.map(codeOf);
    expect([
      codes.filter((code) => code === 'made').length,
      codes.filter((code) => code === 'slot_taken').length,
    ]).toEqual([1, 7]);
    const stayed = 4 - answers.slice(0, 4).filter(({ status }) => status === 200).length;
    expect([await left(third), await left(second, 'hall')]).toEqual([0, 4 - stayed]);
  });

  test('in opposite directions, with cancellations, neither deadlock nor oversell', async () => {
    const { owner, publicId, first, second, at, booking } = await booked(2);
    const other = (await at(second, 'hall')).body;
    for (let round = 0; round < 4; round++) {
      const swap = round % 2 === 0;
      const answers = await Promise.all([
        owner.call('POST', `/v1/bookings/${booking.id}/move`, {
          body: { start: swap ? second : first, calendar: swap ? 'hall' : 'room' },
        }),
        owner.call('POST', `/v1/bookings/${other.id}/move`, {
          body: { start: swap ? first : second, calendar: swap ? 'room' : 'hall' },
        }),
        at(first, 'room'),
        at(second, 'hall'),
      ]);
      for (const code of answers.map(codeOf)) expect(['made', 'slot_taken']).toContain(code);
    }
    const [, cancelled] = await Promise.all([
      owner.call('POST', `/v1/bookings/${booking.id}/move`, { body: { start: second, calendar: 'hall' } }),
      cancelBooking(em(), fixture.deps, booking, 'visitor'),
    ]);
    expect(cancelled.booking.status).toBe('cancelled');
    const over = await em().execute(
      `select 1 from booking b join calendar c on c.id = b.calendar_id
       where b.site_id = (select site_id from booking where id = ?) and b.status = 'confirmed'
       group by b.calendar_id, b.starts_at, c.capacity having sum(b.seats) > c.capacity`,
      [booking.id],
    );
    expect(over).toEqual([]);
    expect((await slots(publicId, dateIn(5), '&calendar=room')).length).toBeGreaterThan(20);
  });

  test('under one Idempotency-Key move once', async () => {
    const { move, second, booking } = await booked();
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 4 }, () => move({ start: second }, headers)));
    expect(new Set(answers.map(({ body }) => body.start))).toEqual(new Set([second]));
    const [row] = await em().execute('select moves from booking where id = ?', [booking.id]);
    expect(row).toEqual({ moves: 1 });
  });
});
