/** Visitors and programs that book far more than a visitor would. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Booking } from '#db/bookings/booking.ts';
import { queueDueReminders } from '#db/bookings/change-mails.ts';
import { PreparedMail } from '#db/bookings/prepared-mails.ts';
import { Mail } from '#db/mail/mail.ts';
import { decryptLetter } from '#db/mail/queue.ts';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { challengeEnv, solve } from '#test/forms/fixture.ts';
import { type BookingFixture, createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

let fixture: BookingFixture;
beforeAll(async () => {
  fixture = await createBookingFixture({ ...challengeEnv, FRONTAGE_RATE_SCALE: '1' });
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

/** Ten bookings of ten visitors, after which the site is busy. */
async function busySite(its: BookingFixture = fixture) {
  const made = await its.newBookable(roomy());
  const [slot] = await its.slots(made.publicId, its.dateIn(9), '&calendar=room');
  let visitors = 0;
  const book = (more: object = {}) => {
    const visitor = { name: 'Ada Visitor', email: `ada-${++visitors}@example.org` };
    return its.book(made.publicId, slot?.start ?? '', { calendar: ['room', 'hall'][visitors % 2], visitor, ...more });
  };
  const answers = await Promise.all(Array.from({ length: 14 }, () => book()));
  return { ...made, book, codes: answers.map(code).sort() };
}
const ten = Array.from({ length: 10 }, () => 'booked');

test('beyond ten bookings in a minute a site requires a solved challenge', async () => {
  const { publicId, book, codes } = await busySite();
  expect(codes).toEqual([...ten, ...Array.from({ length: 4 }, () => 'not_a_person')]);
  const described = await fixture.anyone('GET', `/b/${publicId}`);
  expect(described.text).toContain(`/b/${publicId}/challenge`);
  const solved = async (id: string) => await solve((await fixture.anyone('GET', `/b/${id}/challenge`)).body);
  const altcha = await solved(publicId);
  expect([code(await book({ altcha })), code(await book({ altcha }))]).toEqual(['booked', 'not_a_person']);
  const elsewhere = await solved((await newSite()).publicId);
  expect([code(await book({ altcha: elsewhere })), code(await book({ altcha: 'x' }))]).toEqual([
    'not_a_person',
    'not_a_person',
  ]);
  fixture.skip(61_000);
  expect(code(await book())).toBe('booked');
  expect(code(await fixture.anyone('GET', '/b/nothing/challenge'))).toBe('not_found');
});

test('without a challenge key a busy site refuses bookings for a minute', async () => {
  const plain = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1' });
  try {
    const { publicId, book, codes } = await busySite(plain);
    expect(codes).toEqual([...ten, ...Array.from({ length: 4 }, () => 'rate_limited')]);
    const refused = await book();
    expect(Number(refused.headers.get('retry-after'))).toBeLessThanOrEqual(60);
    const { status, text } = await plain.anyone('GET', `/b/${publicId}/challenge`);
    expect([status, JSON.parse(text).error.code]).toEqual([404, 'not_found']);
    plain.skip(61_000);
    expect(code(await book())).toBe('booked');
  } finally {
    await plain.close();
  }
});

test('an address gets no reminder of bookings whose confirmation a limit stopped', async () => {
  const sites = await Promise.all(Array.from({ length: 7 }, () => newSite()));
  const visitor = { name: 'Ada Visitor', email: 'victim@example.org', remind: true, notify_changes: true };
  const answers = await Promise.all(
    sites.map(({ publicId, start }) => fixture.book(publicId, start, { calendar: 'room', visitor })),
  );
  expect(answers.map(code)).toEqual(sites.map(() => 'booked'));
  const limited = answers.filter(({ body }) => body.mail === 'not_sent').map(({ body }) => body.id);
  expect(limited).toHaveLength(2);
  const em = fixture.deps.em();
  const ids = answers.map(({ body }) => body.id);
  expect(await em.count(PreparedMail, { booking: { $in: ids } })).toBe(5);
  expect(await em.count(Booking, { id: { $in: limited }, remindAt: { $ne: null } })).toBe(0);
  const unsent = await em.find(Booking, { id: { $in: limited } }, { populate: ['notice.sealed'] });
  const notices = unsent.map(({ notice }) => decryptLetter(notice as never, fixture.config.encryptionKeys).data);
  expect(notices).toMatchObject(limited.map(() => ({ isVisitorNotified: false })));
  fixture.skip(Date.parse(sites[0]?.start ?? '') - fixture.clock.now().getTime() - 3600_000);
  expect(await queueDueReminders(fixture.deps)).toBe(5);
  expect(await em.count(Mail, { kind: 'booking-reminder', bookingId: { $in: ids } })).toBe(5);
});

test('a site’s people move its bookings sixty times an hour, with one queued notice', async () => {
  const { owner, site, publicId, start } = await newSite();
  const input = { kind: 'booking', service: 'talk', calendar: 'room', start, visitor: { name: 'Grace' } };
  const { body } = await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body: input });
  const calendars = ['hall', 'room'];
  const move = (n: number) =>
    owner.call('POST', `/v1/bookings/${body.id}/move`, { body: { start, calendar: calendars[n % 2] } });
  const codes: string[] = [];
  for (let n = 0; n < 60; n++) codes.push(code(await move(n)));
  expect(codes).toEqual(Array.from({ length: 60 }, () => 'booked'));
  const refused = await move(60);
  expect(code(refused)).toBe('rate_limited');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(3000);
  // The place that it has is no move.
  expect(code(await move(59))).toBe('booked');
  const moved = { kind: 'booking-moved', siteId: site.id } as const;
  const em = fixture.deps.em();
  expect(await em.count(Mail, { ...moved, status: 'queued' })).toBe(1);
  expect(await em.count(Mail, { ...moved, failure: 'a later move replaced it' })).toBe(59);
  // Other notices are not delayed, and neither are other sites.
  const visitor = { name: 'Ada Visitor', email: 'after-moves@example.org' };
  expect(code(await fixture.book(publicId, start, { calendar: 'room', visitor }))).toBe('booked');
  const taken = await em.findOneOrFail(Mail, { kind: 'booking-taken', siteId: site.id });
  expect(taken.sendAt?.getTime()).toBeLessThanOrEqual(fixture.clock.now().getTime());
  fixture.skip(3601_000);
  expect(code(await move(60))).toBe('booked');
});
