/** Mails to visitors and owners, and the cancellation link, with a worker and a mail server. */
import ICAL from 'ical.js';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { Booking } from '#db/bookings/booking.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createMailFixture, type MailFixture } from '#test/mail/fixture.ts';
import { newBrowser } from '#test/people/browser.ts';
import { until } from '#test/stack/until.ts';
import { calendarFile } from '#web/mails/calendar-file.ts';
import { writeMail } from '#web/mails/mails.ts';
import { bookings } from './fixture.ts';
import { timetable } from './timetable.ts';

let fixture: MailFixture;
let ask: ReturnType<typeof bookings>;
beforeAll(async () => {
  fixture = await createMailFixture();
  ask = bookings(fixture);
}, 60_000);
afterAll(() => fixture?.close());

let visitors = 0;
const intake = [{ name: 'topic', label: 'What is it about?', kind: 'text', required: true }];

/** `before` runs just before the visitor books. */
async function booked(input: object = timetable({ service: { intake } }), before = async () => {}) {
  const made = await ask.newBookable(input);
  const email = `visitor-${++visitors}@example.org`;
  const start = (await ask.slots(made.publicId, ask.dateIn(5)))[0]?.start ?? '';
  const visitor = { name: 'Ada Visitor', email };
  await before();
  const { body, text, status } = await ask.book(made.publicId, start, { visitor, intake: { topic: 'Bread <b>' } });
  if (status !== 200) throw new Error(text);
  const first = async (to: string, subject: RegExp) => {
    const found = await until(
      () => fixture.mailsTo(to).filter((mail) => subject.test(mail.subject)),
      ({ length }) => length > 0,
    );
    return found[0] as (typeof found)[number];
  };
  const linkIn = ({ text: words }: { text: string }) => new URL(/http\S+\/cancel\/\S+/.exec(words)?.[0] ?? '').pathname;
  return {
    ...made,
    email,
    start,
    booking: body,
    first,
    linkIn,
    read: () => made.owner.call('GET', `/v1/bookings/${body.id}`),
  };
}

const eventIn = (text: string) => {
  const calendar = new ICAL.Component(ICAL.parse(text));
  return new ICAL.Event(calendar.getFirstSubcomponent('vevent') as never);
};

test('the visitor receives a calendar file, and the member notified receives the reply address', async () => {
  const { bookable, booking, email, first, start, site, read } = await booked();
  const mail = await first(email, /: Booked for /);
  const hostname = `${site.name}.sites.localhost`;
  // The owner's own words are in the body alone.
  expect(mail.subject.startsWith(`${hostname}: Booked for `)).toBe(true);
  expect(mail.subject).not.toMatch(/A talk|Do not say this aloud/);
  expect(mail.headers.from).toBe(`"${hostname} via Frontage" <hello@localhost>`);
  for (const part of [mail.text, mail.html]) {
    for (const word of [booking.reference, hostname, 'A talk', 'Europe/Berlin']) expect(part).toContain(word);
    expect(part).toContain('Do not say this aloud');
  }
  const [file] = mail.attachments;
  expect(file).toMatchObject({ filename: 'booking.ics', content_type: 'text/calendar' });
  const event = eventIn(file?.text ?? '');
  expect(event.uid).toBe(`${booking.id}@localhost`);
  expect(event.startDate.toJSDate().toISOString()).toBe(new Date(start).toISOString());
  expect(event.endDate.toJSDate().getTime() - event.startDate.toJSDate().getTime()).toBe(3600_000);
  expect(event.summary).toBe(`A talk (${hostname})`);

  const told = await first(bookable.notify_to, /: New booking: A talk/);
  expect(told.headers['reply-to']).toBe(email);
  for (const word of ['Ada Visitor', email, 'What is it about?', 'Bread <b>', booking.reference]) {
    expect(told.text).toContain(word);
  }
  expect(told.html).toContain('Bread &#60;b&#62;');
  expect(told.text).not.toContain('/cancel/');
  await until(read, ({ body }) => body.mail === 'sent');
});

test('once the mails are sent, only the keyed hash of the visitor’s address remains', async () => {
  const { email, booking, first, read, bookable } = await booked();
  await first(email, /: Booked for /);
  await first(bookable.notify_to, /New booking/);
  await until(read, ({ body }) => body.mail === 'sent');
  const em = fixture.deps.em();
  const tables = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  expect(tables.length).toBeGreaterThan(20);
  const settled = async () => {
    const holding: string[] = [];
    for (const { name } of tables) {
      const found = await em.execute(`select 1 from "${name}" row where position(? in row::text) > 0 limit 1`, [email]);
      if (found.length > 0) holding.push(name);
    }
    const waiting = await em.execute(`select 1 from mail where status = 'queued' and sealed is not null`);
    return [...holding, ...waiting];
  };
  await until(settled, ({ length }) => length === 0);
  const history = await fixture.deps.temporal.workflow
    .getHandle(`mail:${(await em.findOneOrFail(Booking, { id: booking.id })).mail?.id}`)
    .fetchHistory();
  expect(JSON.stringify(history)).not.toContain(Buffer.from(email).toString('base64').slice(0, 16));
  expect(fixture.logged.filter((line) => JSON.stringify(line).includes(email))).toEqual([]);
  const row = await em.findOneOrFail(Booking, { id: booking.id });
  expect(row.visitorHash).toHaveLength(32);
});

describe('the cancellation link', () => {
  test('cancels nothing when it is opened; its button cancels once and notifies the site', async () => {
    const { email, first, linkIn, read, bookable, publicId, start } = await booked();
    const link = linkIn(await first(email, /: Booked for /));
    const browser = newBrowser(fixture.url);
    const page = await browser.open(link);
    expect([page.status, page.text.includes('Cancel this booking?')]).toEqual([200, true]);
    for (const [method, headers] of [
      ['GET', {}],
      ['HEAD', {}],
      ['POST', {}],
      ['POST', { 'sec-fetch-site': 'cross-site' }],
    ] as const) {
      await fetch(`${fixture.url}${link}`, { method, headers });
    }
    expect((await read()).body.status).toBe('confirmed');
    const done = await browser.press(page, 'Cancel the booking');
    expect([done.status, done.text.includes('Your booking is cancelled')]).toEqual([200, true]);
    expect((await read()).body).toMatchObject({ status: 'cancelled', cancelled_at: expect.any(String) });
    expect((await ask.slots(publicId, start.slice(0, 10)))[0]?.start).toBe(start);
    const told = await first(bookable.notify_to, /: Cancelled: A talk/);
    expect(told.text).toContain('Ada Visitor cancelled this booking');
    expect(told.text).not.toContain(email);
    const again = await browser.press(page, 'Cancel the booking');
    expect([again.status, again.text.includes('This booking is cancelled')]).toEqual([410, true]);
    expect((await browser.open(link)).status).toBe(410);
    expect(fixture.mailsTo(bookable.notify_to).filter(({ subject }) => /: Cancelled: /.test(subject))).toHaveLength(1);
  });

  test('works for its own booking and site alone, while the booking is live', async () => {
    const one = await booked();
    const two = await booked();
    const link = one.linkIn(await one.first(one.email, /: Booked for /));
    const browser = newBrowser(fixture.url);
    expect((await browser.open(link.replace(one.publicId, two.publicId))).status).toBe(404);
    expect((await browser.open(`${link.slice(0, -4)}AAAA`)).status).toBe(404);
    fixture.skip(7 * 24 * 3600_000);
    const page = await browser.open(link);
    expect([page.status, page.text.includes('The booked time has passed')]).toEqual([410, true]);
  });

  test('cancels nothing once the booking has begun', async () => {
    const { first, email, linkIn, start, read } = await booked();
    const link = linkIn(await first(email, /: Booked for /));
    const browser = newBrowser(fixture.url);
    const before = await browser.open(link);
    fixture.skip(Date.parse(start) - fixture.clock.now().getTime() + 1000);
    const pressed = await browser.press(before, 'Cancel the booking');
    expect([pressed.status, pressed.text.includes('has started')]).toEqual([410, true]);
    expect((await read()).body.status).toBe('confirmed');
  });
});

test('a booking cancelled before its confirmation was sent is reported as cancelled instead', async () => {
  const { email, owner, booking, first, read } = await booked(undefined, () => fixture.stopMailServer());
  const { body } = await owner.call('POST', `/v1/bookings/${booking.id}/cancel`);
  expect(body).toMatchObject({ status: 'cancelled', mail: 'queued' });
  await fixture.startMailServer();
  const mail = await first(email, /: Cancelled: /);
  expect(mail.text).toContain('cancelled this booking');
  expect(fixture.mailsTo(email).filter(({ subject }) => /: Booked for /.test(subject))).toEqual([]);
  expect(errorOf(await owner.call('POST', `/v1/bookings/${booking.id}/cancel`)).code).toBe('not_cancellable');
  await until(read, ({ body }) => body.mail === 'sent');
});

test('bookings are accepted while the mail server is down; their mails follow', async () => {
  const { email, first, read, bookable } = await booked(undefined, () => fixture.stopMailServer());
  expect((await read()).body).toMatchObject({ status: 'confirmed', mail: 'queued' });
  await fixture.startMailServer();
  await first(email, /: Booked for /);
  await first(bookable.notify_to, /New booking/);
  await until(read, ({ body }) => body.mail === 'sent');
});

test('a calendar file is valid, whatever was typed', () => {
  const hostile =
    'Cut, wash; dry \\ "x"\r\nBEGIN:VALARM\nATTENDEE:mailto:x\u0007 🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐🥐 é'.repeat(
      3,
    );
  const file = calendarFile({
    uid: 'book_x@localhost',
    stamp: '2026-01-01T00:00:00Z',
    start: '2026-03-29T03:30:00+02:00',
    end: '2026-03-29T04:30:00+02:00',
    summary: hostile,
    description: hostile,
    location: hostile,
    // A row of an earlier release may have such a link.
    url: 'https://x.example/\r\nEND:VEVENT\r\nBEGIN:VEVENT\tx',
  });
  expect(file.split('\r\n').every((line) => Buffer.byteLength(line) <= 75)).toBe(true);
  expect(file.replaceAll('\r\n', '')).not.toMatch(/[\r\n]/);
  const event = eventIn(file);
  const typed = hostile.replaceAll('\r\n', '\n').replaceAll('\u0007', '');
  expect([event.summary, event.description, event.location]).toEqual([typed, typed, typed]);
  expect(event.component.getAllSubcomponents()).toEqual([]);
  expect(event.component.getFirstPropertyValue('url')).toBe('https://x.example/END:VEVENTBEGIN:VEVENTx');
  expect(file.match(/^BEGIN:VEVENT/gm)).toHaveLength(1);
  expect(event.startDate.toJSDate().toISOString()).toBe('2026-03-29T01:30:00.000Z');
});

test('a mail contains the local time of the place', () => {
  const facts = {
    id: 'book_x',
    reference: 'ABCD1234',
    hostname: 'x.example',
    address: 'https://x.example',
    service: 'A talk',
    calendar: 'Room',
    timeZone: 'America/St_Johns',
    start: '2026-07-01T18:30:00-02:30',
    end: '2026-07-01T19:00:00-02:30',
    seats: 2,
    createdAt: '2026-01-01T00:00:00Z',
    cancelUrl: 'https://p.example/b/x/cancel/y',
  };
  const { subject, text } = writeMail('booking-confirmed', facts, { baseUrl: 'https://p.example' });
  expect(subject).toBe('x.example: Booked for Wednesday, 1 July 2026, 18:30 (America/St_Johns)');
  expect(text).toContain('18:30 to 19:00');
  expect(text).toContain('America/St_Johns (UTC-02:30)');
  expect(text).toContain('Seats: 2');
});
