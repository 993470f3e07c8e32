/** Mails to visitors who ask for them, and answers that say who has to tell the others. */
import ICAL from 'ical.js';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueDueReminders } from '#db/bookings/change-mails.ts';
import { sweepPreparedMails } from '#db/bookings/prepared-mails.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createMailFixture, type MailFixture } from '#test/mail/fixture.ts';
import { newBrowser } from '#test/people/browser.ts';
import { until } from '#test/stack/until.ts';
import { bookings, createBookingFixture } from './fixture.ts';

let fixture: MailFixture;
let ask: ReturnType<typeof bookings>;
beforeAll(async () => {
  fixture = await createMailFixture();
  ask = bookings(fixture);
}, 60_000);
afterAll(() => fixture?.close());

let visitors = 0;

async function booked(wishes: object) {
  const made = await ask.newBookable();
  const email = `told-${++visitors}@example.org`;
  const start = (await ask.slots(made.publicId, ask.dateIn(5)))[0]?.start ?? '';
  const { body, text, status } = await ask.book(made.publicId, start, {
    visitor: { name: 'Ada Visitor', email, ...wishes },
  });
  if (status !== 200) throw new Error(text);
  const first = async (to: string, subject: RegExp) => {
    const matching = () => fixture.mailsTo(to).filter((mail) => subject.test(mail.subject));
    const [mail] = await until(matching, ({ length }) => length > 0);
    return mail as NonNullable<typeof mail>;
  };
  const read = async () => (await made.owner.call('GET', `/v1/bookings/${body.id}`)).body;
  const settled = async () => {
    await first(email, /: Booked for /);
    await until(read, (booking) => booking.mail === 'sent' && booking.notice === 'sent');
  };
  return {
    ...made,
    email,
    start,
    id: body.id as string,
    reference: body.reference as string,
    first,
    read,
    settled,
    cancel: () => made.owner.call('POST', `/v1/bookings/${body.id}/cancel`),
  };
}

/** The event in the calendar file of a mail. */
function eventIn({ attachments: [file] }: { attachments: { text: string }[] }) {
  return new ICAL.Event(new ICAL.Component(ICAL.parse(file?.text ?? '')).getFirstSubcomponent('vevent') as never);
}

const preparedOf = (id: string) => fixture.deps.em().execute('select * from prepared_mail where booking_id = ?', [id]);

test('a visitor who asked for it gets an e-mail when the site cancels', async () => {
  const { email, id, settled, cancel, first, bookable, read } = await booked({ notify_changes: true });
  await settled();
  expect(fixture.mailsTo(email)[0]?.text).toContain('We will e-mail you if this booking changes or is cancelled.');
  expect(await preparedOf(id)).toHaveLength(1);
  const { body } = await cancel();
  expect(body).toMatchObject({ status: 'cancelled', mail: 'queued', notice: 'queued' });
  expect(body.next_action).toBeUndefined();
  expect(await preparedOf(id)).toEqual([]);
  expect((await first(email, /: Cancelled: /)).text).toContain('cancelled this booking');
  expect((await first(bookable.notify_to, /: Cancelled: A talk/)).text).toContain(
    'We are notifying the visitor by e-mail.',
  );
  expect(await until(read, ({ mail, notice }) => mail === 'sent' && notice === 'sent')).toMatchObject({ mail: 'sent' });
  const left = await fixture.deps.em().execute(`select 1 from mail where sealed is not null and status <> 'queued'`);
  expect(left).toEqual([]);
});

test('the answer says who tells a visitor who asked for nothing', async () => {
  const { email, id, settled, cancel, first, bookable, reference, owner } = await booked({});
  await settled();
  expect(await preparedOf(id)).toEqual([]);
  const { body } = await cancel();
  expect(body).toMatchObject({ status: 'cancelled', mail: null, notice: 'queued' });
  for (const word of [bookable.notify_to, 'Ada Visitor', reference, 'New booking']) {
    expect(body.next_action).toContain(word);
  }
  const told = await first(bookable.notify_to, /: Cancelled: A talk/);
  expect(told.text).toContain(`Please tell them yourself: reply to the e-mail “New booking” with the reference`);
  expect(fixture.mailsTo(email).map(({ subject }) => subject)).toEqual([expect.stringContaining('Booked for')]);
  expect((await owner.call('GET', `/v1/bookings/${id}`)).body).toMatchObject({ mail: null });
});

test('a visitor who asked for it gets the new time and the same event', async () => {
  const { email, settled, owner, id, publicId, first, bookable } = await booked({
    notify_changes: true,
    time_zone: 'America/New_York',
  });
  await settled();
  const later = (await ask.slots(publicId, ask.dateIn(6)))[3]?.start ?? '';
  const { body } = await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: later } });
  expect([body.mail, body.next_action]).toEqual(['queued', undefined]);
  const moved = await first(email, /: New time: /);
  expect(moved.text.match(/America\/New_York/g)).toHaveLength(2);
  const [before, after] = [await first(email, /: Booked for /), moved].map(eventIn);
  expect([before?.uid, after?.uid]).toEqual([after?.uid, expect.stringContaining(id)]);
  expect([before?.sequence, after?.sequence]).toEqual([0, 1]);
  expect(after?.startDate.toJSDate().getTime()).toBe(Date.parse(later));
  expect((await first(bookable.notify_to, /: Moved: A talk/)).text).toContain('We are e-mailing the visitor');
  // Their address is still there for the next change.
  expect(await preparedOf(id)).toHaveLength(1);
});

test('a visitor who cancels with the link gets the e-mail they asked for', async () => {
  const { email, settled, first } = await booked({ notify_changes: true });
  await settled();
  const link = new URL(/http\S+\/cancel\/\S+/.exec((await first(email, /: Booked for /)).text)?.[0] ?? '').pathname;
  const browser = newBrowser(fixture.url);
  const done = await browser.press(await browser.open(link), 'Cancel the booking');
  expect(done.text).toContain('We are notifying the owner by e-mail. We are also sending you an e-mail about it.');
  expect((await first(email, /: Cancelled: /)).text).toContain('You cancelled this booking.');
});

test('mails about a booking for somebody who called name no mail that never was', async () => {
  const { owner, site, publicId, bookable } = await ask.newBookable();
  const [start, later] = (await ask.slots(publicId, ask.dateIn(5))).map((slot) => slot.start);
  const own = { kind: 'booking', service: 'talk', calendar: 'room', start, visitor: { name: 'Tim' } };
  const { body } = await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body: own });
  expect((await owner.call('POST', `/v1/bookings/${body.id}/move`, { body: { start: later } })).status).toBe(200);
  expect((await owner.call('POST', `/v1/bookings/${body.id}/cancel`)).status).toBe(200);
  for (const subject of [/: Moved: A talk/, /: Cancelled: A talk/]) {
    const told = await until(
      () => fixture.mailsTo(bookable.notify_to).find((mail) => subject.test(mail.subject)),
      (mail) => mail !== undefined,
    );
    expect(told?.text).toContain('Please tell them');
    expect(told?.text).not.toContain('“New booking”');
  }
});

test('concurrent rounds send a reminder once', async () => {
  const { email, id, settled, first, read } = await booked({ remind: true });
  await settled();
  expect(fixture.mailsTo(email)[0]?.text).toContain('We will remind you the day before.');
  const em = fixture.deps.em();
  await em.execute('update booking set remind_at = ? where id = ?', [fixture.clock.now(), id]);
  const queued = await Promise.all(Array.from({ length: 6 }, () => queueDueReminders(fixture.deps)));
  expect(queued.reduce((sum, one) => sum + one, 0)).toBe(1);
  expect(await queueDueReminders(fixture.deps)).toBe(0);
  const reminder = await first(email, /: Reminder: /);
  expect(reminder.text).toContain('/cancel/');
  await until(read, ({ mail }) => mail === 'sent');
  expect(fixture.mailsTo(email).filter(({ subject }) => /Reminder/.test(subject))).toHaveLength(1);
  // It asked for nothing else.
  expect(await preparedOf(id)).toEqual([]);
});

test('a cancelled booking has no reminder', async () => {
  const { id, settled, cancel } = await booked({ remind: true });
  await settled();
  const { body } = await cancel();
  expect(body).toMatchObject({ mail: null, next_action: expect.stringContaining('no e-mail about the cancellation') });
  const [row] = await fixture.deps.em().execute('select remind_at from booking where id = ?', [id]);
  expect(row).toEqual({ remind_at: null });
  expect(await preparedOf(id)).toEqual([]);
});

test('the address is encrypted in one row, and destroyed when the booking ends', async () => {
  const { email, id, settled, owner, site, start } = await booked({ notify_changes: true, remind: true });
  await settled();
  const em = fixture.deps.em();
  const tables = await em.execute<{ name: string }[]>(
    `select table_name as name from information_schema.tables where table_schema = 'public' and table_type = 'BASE TABLE'`,
  );
  for (const { name } of tables) {
    const found = await em.execute(`select 1 from "${name}" row where position(? in row::text) > 0 limit 1`, [email]);
    expect([name, found]).toEqual([name, []]);
  }
  for (const path of [
    `/v1/bookings/${id}`,
    `/v1/sites/${site.id}/bookings`,
    `/v1/sites/${site.id}/history`,
    '/v1/inbox',
  ])
    expect((await owner.call('GET', path)).text).not.toContain(email);
  expect(fixture.logged.filter((line) => JSON.stringify(line).includes(email))).toEqual([]);
  expect(await preparedOf(id)).toHaveLength(1);
  await sweepPreparedMails(fixture.deps.em(), new Date(Date.parse(start) + 59 * 60_000));
  expect(await preparedOf(id)).toHaveLength(1);
  await sweepPreparedMails(fixture.deps.em(), new Date(Date.parse(start) + 60 * 60_000));
  expect(await preparedOf(id)).toEqual([]);
});

test('a booking within a day gets no reminder', async () => {
  const { publicId } = await ask.newBookable();
  const soon = (await ask.slots(publicId, ask.dateIn(0)))[0] ?? (await ask.slots(publicId, ask.dateIn(1)))[0];
  const visitor = { name: 'Ada Visitor', email: 'soon@example.org', remind: true };
  const { body } = await ask.book(publicId, soon?.start ?? '', { visitor });
  expect(await preparedOf(body.id)).toEqual([]);
});

test('a platform without e-mails refuses wishes for them and says so beforehand', async () => {
  const silent = await createBookingFixture({ FRONTAGE_SMTP_URL: '' });
  try {
    const { publicId, owner, site } = await silent.newBookable();
    expect((await silent.anyone('GET', `/b/${publicId}`)).body.notices).toBe(false);
    const start = (await silent.slots(publicId, silent.dateIn(5)))[0]?.start ?? '';
    const visitor = { name: 'Ada Visitor', email: 'ada@example.org' };
    const refused = await silent.book(publicId, start, { visitor: { ...visitor, remind: true } });
    expect(errorOf(refused)).toMatchObject({ code: 'invalid_visitor', message: expect.stringContaining('remind') });
    const own = { kind: 'booking', service: 'talk', calendar: 'room', start, visitor: { ...visitor, remind: true } };
    const ours = await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body: own });
    expect(errorOf(ours)).toMatchObject({ code: 'invalid_visitor', message: expect.stringContaining('no e-mails') });
    const { body } = await silent.book(publicId, start, { visitor });
    const cancelled = await owner.call('POST', `/v1/bookings/${body.id}/cancel`);
    expect(cancelled.body).toMatchObject({ mail: null, notice: null });
    expect(cancelled.body.next_action).toContain('in person or by phone');
  } finally {
    await silent.close();
  }
});
