/** Prices of seats, and where bookings take place. */
import ICAL from 'ical.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { decryptLetter } from '#db/mail/queue.ts';
import { momentIn } from '#rules/bookings/written-times.ts';
import { errorOf } from '#test/api/fixture.ts';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { writeMail } from '#web/mails/mails.ts';
import { type BookingFixture, createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

let fixture: BookingFixture;
beforeAll(async () => {
  fixture = await createBookingFixture(payingEnv(9));
});
afterAll(() => fixture?.close());

/** The mails of a kind that wait for a site. */
async function waiting(siteId: string, kind: string) {
  const rows = await fixture.deps
    .em()
    .execute<{ id: string; sealed: Buffer }[]>(
      `select id, sealed from mail where site_id = ? and kind = ? and status = 'queued'`,
      [siteId, kind],
    );
  return rows.map((row) => decryptLetter(row, fixture.config.encryptionKeys));
}

async function priced(service: object) {
  const made = await fixture.newBookable(timetable({ calendar: { capacity: 5 }, service }));
  await attachAccount(fixture, made.owner, made.site.id);
  const start = (await fixture.slots(made.publicId, fixture.dateIn(5)))[0]?.start ?? '';
  return { ...made, start };
}

test.each([
  [undefined, 9000],
  ['seat', 9000],
  ['booking', 3000],
] as const)('three seats at 30 euros per %s cost %i cents', async (per, amount) => {
  const price = { amount: 3000, currency: 'EUR', ...(per ? { per } : {}) };
  const { owner, site, publicId, start, bookable } = await priced({ seats_max: 3, price });
  expect(bookable.services[0].price).toEqual({ ...price, per: per ?? 'seat' });
  expect((await fixture.anyone('GET', `/b/${publicId}`)).body.services[0].price).toEqual(bookable.services[0].price);
  const { body } = await fixture.book(publicId, start, { seats: 3 });
  expect(body).toMatchObject({ status: 'held', seats: 3, price: { amount, currency: 'EUR' } });
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/payments`)).body;
  expect(items).toEqual([expect.objectContaining({ amount, currency: 'EUR' })]);
});

test('a hold mails the pay link until it ends', async () => {
  const { site, publicId, start } = await priced({ seats_max: 3, price: { amount: 3000, currency: 'EUR' } });
  const visitor = { name: 'Ada', email: 'ada@example.org', time_zone: 'America/New_York' };
  const { body } = await fixture.book(publicId, start, { seats: 3, visitor });
  expect(body.mail).toBe('queued');
  const [letter] = await waiting(site.id, 'booking-held');
  expect(letter).toMatchObject({ to: 'ada@example.org', until: body.hold_expires_at });
  const { subject, text } = writeMail('booking-held', letter?.data as never, { baseUrl: 'https://p.example' });
  expect(subject).toContain(': Pay to confirm your booking for ');
  for (const part of [body.pay_url, '€90.00', 'Europe/Berlin', 'In your time zone', 'America/New_York']) {
    expect(text).toContain(part);
  }
  const [deadline = ''] = /^Pay by: .*$/m.exec(text) ?? [];
  for (const zone of ['Europe/Berlin', 'America/New_York'])
    expect(deadline).toContain(momentIn(body.hold_expires_at, zone));
});

test('a price is refused if the most seats cannot be charged', async () => {
  const { owner, site } = await fixture.newBookable();
  const service = { seats_max: 1000, price: { amount: 1_000_000, currency: 'EUR' } };
  const calendar = { capacity: 1000 };
  const refused = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: timetable({ service, calendar }) });
  expect(errorOf(refused)).toMatchObject({
    code: 'invalid_timetable',
    message: expect.stringContaining('a booking of 1000 seats costs too much'),
  });
});

const place = 'Mill Lane 3, Bath';
const link = 'https://meet.example/room-1';

test('a place is public; a link is shown by a confirmed booking alone', async () => {
  const { owner, site, publicId } = await fixture.newBookable(timetable({ calendar: { place }, service: { link } }));
  const description = await fixture.anyone('GET', `/b/${publicId}`);
  expect(description.body.calendars[0]).toMatchObject({ place, has_link: false });
  expect(description.body.services[0]).toMatchObject({ place: null, has_link: true });
  expect(description.text).not.toContain('meet.example');
  const start = (await fixture.slots(publicId, fixture.dateIn(5)))[0]?.start ?? '';
  const { body } = await fixture.book(publicId, start);
  // The service's own wins.
  expect(body).toMatchObject({ status: 'confirmed', place: null, link });
  const [letter] = await waiting(site.id, 'booking-confirmed');
  const { text, attachments } = writeMail('booking-confirmed', letter?.data as never, { baseUrl: 'https://p.example' });
  expect(text).toContain(link);
  const calendar = new ICAL.Component(ICAL.parse(attachments?.[0]?.content ?? ''));
  const event = new ICAL.Event(calendar.getFirstSubcomponent('vevent') as never);
  expect([event.location, event.description.includes(link)]).toEqual([link, true]);
  const cancelled = await owner.call('POST', `/v1/bookings/${body.id}/cancel`);
  expect(cancelled.body).toMatchObject({ status: 'cancelled', link: null });
});

test('a hold does not show the link, and shows the place', async () => {
  const online = await priced({ link, price: { amount: 3000, currency: 'EUR' } });
  const held = await fixture.book(online.publicId, online.start);
  expect(held.body).toMatchObject({ status: 'held', link: null });
  expect(JSON.stringify(await waiting(online.site.id, 'booking-held'))).not.toContain('meet.example');
  const there = await fixture.newBookable(timetable({ calendar: { place } }));
  const start = (await fixture.slots(there.publicId, fixture.dateIn(5)))[0]?.start ?? '';
  expect((await fixture.book(there.publicId, start)).body).toMatchObject({ place, link: null });
  const [letter] = await waiting(there.site.id, 'booking-confirmed');
  const { text } = writeMail('booking-confirmed', letter?.data as never, { baseUrl: 'https://p.example' });
  expect(text).toContain(`Where: ${place}`);
});

test.each([
  [{ place, link }, 'a place and a link'],
  [{ link: 'http://meet.example/' }, 'https URL'],
  [{ link: 'https://me:secret@meet.example/' }, 'https URL'],
  [{ link: 'javascript:alert(1)' }, 'https URL'],
  [{ link: 'room 1' }, 'https URL'],
  [{ link: 'https://meet.example/\r\nEND:VEVENT\r\nBEGIN:VEVENT' }, 'https URL'],
  [{ link: 'https://meet.example/\ta' }, 'https URL'],
  [{ link: 'https://meet.example/\u202ea' }, 'https URL'],
])('a timetable is refused where it says both or something else (%#)', async (where, said) => {
  const owner = await fixture.newCaller();
  const site = await fixture.newSite(owner);
  for (const body of [timetable({ calendar: where }), timetable({ service: where })]) {
    const refused = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body });
    expect(errorOf(refused)).toMatchObject({ code: 'invalid_timetable', message: expect.stringContaining(said) });
  }
});
