/** Visitors who move their bookings with the link in the e-mail, with a worker and a mail server. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { bookings } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { clearInbox, hear } from '#test/inbox/fixture.ts';
import { createMailFixture, type MailFixture } from '#test/mail/fixture.ts';
import { newBrowser, type Shown } from '#test/people/browser.ts';
import { until, untilBlocked } from '#test/stack/until.ts';

let fixture: MailFixture;
let ask: ReturnType<typeof bookings>;
beforeAll(async () => {
  fixture = await createMailFixture();
  ask = bookings(fixture);
}, 60_000);
afterAll(() => fixture?.close());

let visitors = 0;
const pathIn = (text: string) => new URL(/http\S+\/cancel\/\S+/.exec(text)?.[0] ?? '').pathname;

/** A confirmed booking at the first time of its day, and a browser with its link. */
async function booked({ service = {}, calendar = {}, wishes = {}, more = {} } = {}) {
  const made = await ask.newBookable(timetable({ service, calendar }));
  const { owner, publicId, bookable } = made;
  const email = `mover-${++visitors}@example.org`;
  const date = ask.dateIn(5);
  const times = (await ask.slots(publicId, date)).map(({ start }) => start);
  const visitor = { name: 'Ada Visitor', email, ...wishes };
  const { body, text, status } = await ask.book(publicId, times[0] ?? '', { visitor, ...more });
  if (status !== 200) throw new Error(text);
  const first = async (to: string, subject: RegExp) => {
    const [mail] = await until(
      () => fixture.mailsTo(to).filter((one) => subject.test(one.subject)),
      ({ length }) => length > 0,
    );
    return mail?.text ?? '';
  };
  const link = pathIn(await first(email, /: Booked for /));
  const read = async () => (await owner.call('GET', `/v1/bookings/${body.id}`)).body;
  await until(read, ({ mail, notice }) => mail === 'sent' && notice === 'sent');
  const browser = newBrowser(fixture.url);
  const openDay = (day = date) => browser.open(`${link.replace('/cancel/', '/move/')}?date=${day}`);
  const move = (page: Shown, start: string) => browser.press(page, 'Move the booking', { start });
  return {
    ...made,
    notifyTo: bookable.notify_to,
    id: body.id,
    email,
    date,
    times,
    link,
    first,
    read,
    browser,
    openDay,
    move,
  };
}

/** What a screen reader says of a day. */
const labelOf = ({ text }: Shown, date: string) =>
  new RegExp(`date=${date}"[^>]*>(.*?)</a>`)
    .exec(text)?.[1]
    ?.replace(/<i aria-hidden.*?<\/i>/, '')
    .replaceAll(/<[^>]+>/g, '');

const starts = (page: Shown) =>
  [...page.text.matchAll(/type="radio" name="start" value="([^"]+)"/g)].map(([, at]) => at);

test('a visitor moves a booking on their link’s page, and the owner is e-mailed', async () => {
  const { browser, link, times, read, openDay, move, first, notifyTo, date, email } = await booked();
  const page = await browser.open(link);
  expect(page.text).toContain('>Choose another time</a>');
  const days = await browser.open(link.replace('/cancel/', '/move/'));
  expect([days.status, days.text.includes(`href="?date=${date}"`), starts(days)]).toEqual([200, true, []]);
  expect(labelOf(days, date)).toMatch(/^[A-Z]\w+day \d+ [A-Z]\w+, \d+ free times$/);
  const day = await openDay();
  expect(starts(day)).toEqual(times.slice(1));
  expect(day.text).toContain('Time (Europe/Berlin)');
  for (const method of ['GET', 'HEAD', 'POST']) await fetch(`${fixture.url}${day.url}`, { method });
  expect((await read()).start).toBe(times[0]);
  const done = await move(day, times[3] ?? '');
  expect([done.status, done.text.includes('Your booking has a new time')]).toEqual([200, true]);
  expect(done.text).toContain(
    'We are notifying the owner by e-mail. You get no e-mail about it: please write down the new time',
  );
  expect(done.text).not.toContain('Book another time');
  expect(done.text).toContain('Can’t make it? <a href="../cancel/');
  expect((await browser.open(link)).text).toContain('Cancel this booking?');
  expect(await read()).toMatchObject({ start: times[3], status: 'confirmed', notice: expect.any(String) });
  const notice = await first(notifyTo, /: Moved: A talk/);
  expect(notice).toContain('Ada Visitor moved this booking.');
  expect(notice).not.toContain('cannot e-mail');
  expect(notice).toContain(`See the booking:\n${fixture.config.baseUrl}/account/sites/`);
  expect(fixture.mailsTo(email)).toHaveLength(1);
});

test('a visitor who wants e-mails about changes gets one with the new time', async () => {
  const { times, openDay, move, first, email, link } = await booked({ wishes: { notify_changes: true } });
  const done = await move(await openDay(), times[2] ?? '');
  expect(done.text).toContain('We are also sending you an e-mail about it.');
  const mail = await first(email, /: New time: /);
  expect(mail).toContain('You moved your booking.');
  expect(pathIn(mail)).toBe(link);
});

test('a done booking returns to a waiting inbox when its visitor moves it', async () => {
  const { owner, id, times, openDay, move } = await booked();
  await clearInbox(owner);
  const day = await openDay();
  await hear(fixture, owner, 'new_booking', () => move(day, times[1] ?? ''));
  const [item, ...others] = (await owner.call('GET', '/v1/inbox')).body.items;
  expect([item, others]).toMatchObject([{ kind: 'new_booking', id, who: 'Ada Visitor' }, []]);
  expect(item.title).toMatch(
    /^Ada Visitor moved their booking of A talk on Do not say this aloud to .* \(Europe\/Berlin\)\.$/,
  );
  await clearInbox(owner);
  await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start: times[2] } });
  expect((await owner.call('GET', '/v1/inbox')).body.items).toEqual([]);
});

test('a time that was taken meanwhile is refused, and the others are shown', async () => {
  const { publicId, times, read, openDay, move } = await booked();
  const day = await openDay();
  expect((await ask.book(publicId, times[2] ?? '')).status).toBe(200);
  const page = await move(day, times[2] ?? '');
  expect([page.status, page.text.includes('That time is not available any more.')]).toEqual([409, true]);
  expect(starts(page)).toEqual(times.filter((_, at) => at !== 0 && at !== 2));
  for (const [start, status] of [
    [`${ask.dateIn(6)}T10:07:00Z`, 400],
    ['soon', 400],
  ] as const)
    expect((await move(day, start)).status).toBe(status);
  expect((await read()).start).toBe(times[0]);
});

test('a visitor gets no time within the lead time, nor with too few seats', async () => {
  const soon = await booked({ service: { lead_minutes: 4 * 24 * 60 } });
  const page = await soon.openDay();
  const { start } = { start: new Date(Date.parse(soon.times[0] ?? '') - 3 * 24 * 3600_000).toISOString() };
  expect([(await soon.move(page, start)).status, (await soon.read()).start]).toEqual([400, soon.times[0]]);
  const wide = await booked({
    calendar: { capacity: 3 },
    service: { seats_max: 3, step_minutes: 15 },
    more: { seats: 2 },
  });
  expect((await ask.book(wide.publicId, wide.times[5] ?? '', { seats: 2 })).status).toBe(200);
  const day = await wide.openDay();
  // Its own seats do not block the times that overlap its own.
  const enough = wide.times.filter((_, at) => at !== 0 && (at < 2 || at > 8));
  expect(starts(day)).toEqual(enough);
  expect(day.text).toMatch(new RegExp(`date=${wide.date}" aria-current="date">.*?<small>${enough.length} free<`));
  expect((await wide.move(day, wide.times[1] ?? '')).status).toBe(200);
});

test('the page is closed once the booking has ended or its service is gone', async () => {
  const gone = await booked();
  await gone.owner.call('DELETE', `/v1/sites/${gone.site.id}/bookable?confirm=true`);
  const closed = await gone.openDay();
  expect([closed.status, closed.text.includes('Change or cancel the booking')]).toEqual([410, true]);
  const left = await gone.browser.open(gone.link);
  expect([left.status, left.text.includes('Choose another time')]).toEqual([200, false]);
  const cancelled = await booked();
  const day = await cancelled.openDay();
  await cancelled.owner.call('POST', `/v1/bookings/${cancelled.id}/cancel`);
  expect((await cancelled.move(day, cancelled.times[1] ?? '')).status).toBe(410);
  const other = await booked();
  const path = other.link.replace('/cancel/', '/move/');
  expect((await other.browser.open(path.replace(other.publicId, gone.publicId))).status).toBe(404);
  expect((await other.browser.open(`${path}?date=tomorrow`)).status).toBe(400);
});

test('a visitor moves a booking ten times at most, and the owner more often', async () => {
  const { owner, id, times, read, openDay, move } = await booked();
  const day = await openDay();
  const byOwner = async (start = '') =>
    expect((await owner.call('POST', `/v1/bookings/${id}/move`, { body: { start } })).status).toBe(200);
  await byOwner(times[11]);
  for (let n = 1; n <= 10; n += 1) expect((await move(day, times[n] ?? '')).status).toBe(200);
  const refused = await move(day, times[12] ?? '');
  expect([refused.status, refused.text.includes('moved this booking many times already')]).toEqual([409, true]);
  expect(refused.text).toContain('<h1>This booking cannot be changed here</h1>');
  expect((await read()).start).toBe(times[10]);
  await byOwner(times[12]);
});

test('two visitors who move to one seat at once cannot both have it', async () => {
  const one = await booked();
  const { body } = await ask.book(one.publicId, one.times[1] ?? '', {
    visitor: { name: 'Bob', email: `other-${one.email}` },
  });
  const link = pathIn(await one.first(`other-${one.email}`, /: Booked for /));
  const other = newBrowser(fixture.url);
  const [mine, theirs] = [
    await one.openDay(),
    await other.open(`${link.replace('/cancel/', '/move/')}?date=${one.date}`),
  ];
  const start = one.times[4] ?? '';
  const answers = await Promise.all([one.move(mine, start), other.press(theirs, 'Move the booking', { start })]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const taken = [(await one.read()).start, (await one.owner.call('GET', `/v1/bookings/${body.id}`)).body.start];
  expect(taken.filter((at) => at === start)).toHaveLength(1);
});

test('a visitor who presses Cancel twice sees that the booking is cancelled', async () => {
  const { id, link, browser } = await booked();
  const page = await browser.open(link);
  const em = () => fixture.deps.em();
  let presses: Promise<Shown[]> | undefined;
  await em().transactional(async (tx) => {
    await tx.execute('select 1 from booking where id = ? for update', [id]);
    presses = Promise.all([1, 2].map(() => browser.press(page, 'Cancel the booking')));
    await untilBlocked(fixture.deps, 2);
  });
  const answers = await presses;
  expect(answers?.map(({ status }) => status).sort()).toEqual([200, 410]);
  for (const title of ['Your booking is cancelled', 'This booking is cancelled'])
    expect([title, answers?.filter(({ text }) => text.includes(`<h1>${title}</h1>`)).length]).toEqual([title, 1]);
});
