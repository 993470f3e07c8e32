import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());
const { newBookable, anyone, book, slots, dateIn } = fixture;
const code = (answer: Answer) => errorOf(answer).code;

test('a visitor reads services, days and time slots, and books one without a token', async () => {
  const { owner, site, publicId } = await newBookable();
  const described = await anyone('GET', `/b/${publicId}`);
  expect(described.body).toMatchObject({
    site: { title: 'Do not say this aloud' },
    services: [{ key: 'talk', open: true, calendar_keys: ['room'], intake: [] }],
    calendars: [{ key: 'room', time_zone: 'Europe/Berlin' }],
  });
  expect(described.text).not.toMatch(/notify_to|@example\.com/);
  const date = dateIn(7);
  const days = await anyone('GET', `/b/${publicId}/days?service=talk&from=${date}&to=${dateIn(8)}`);
  expect(days.body.days[0].date).toBe(date);
  expect(days.body.days[0].open_slots).toBeGreaterThan(20);
  const open = await slots(publicId, date);
  expect(open).toHaveLength(days.body.days[0].open_slots);
  const wanted = open[9];
  const booked = await book(publicId, wanted?.start ?? '');
  expect(booked.body).toMatchObject({
    status: 'confirmed',
    service: 'talk',
    calendar: 'room',
    start: wanted?.start,
    end: wanted?.end,
    seats: 1,
    visitor: { name: 'Ada Visitor' },
    payment_id: null,
    hold_expires_at: null,
    cancelled_at: null,
  });
  expect(booked.body.reference).toMatch(/^[0-9A-HJKMNP-TV-Z]{8}$/);
  expect(await slots(publicId, date)).toEqual(open.filter(({ start }) => start !== wanted?.start));
  expect((await owner.call('GET', `/v1/bookings/${booked.body.id}`)).body).toEqual(booked.body);
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items).toEqual([booked.body]);
});

test('a service with several calendars is booked in the named one', async () => {
  const room = timetable().calendars[0];
  const { publicId } = await newBookable({
    calendars: [room, { ...room, key: 'hall' }],
    services: [{ ...timetable().services[0], calendar_keys: ['room', 'hall'] }],
  });
  expect(code(await anyone('GET', `/b/${publicId}/slots?service=talk&date=${dateIn(5)}`))).toBe('invalid_calendar');
  const [slot] = await slots(publicId, dateIn(5), '&calendar=hall');
  const start = slot?.start ?? '';
  expect(code(await book(publicId, start))).toBe('invalid_calendar');
  expect((await book(publicId, start, { calendar: 'hall' })).body.calendar).toBe('hall');
  expect(code(await book(publicId, start, { calendar: 'hall' }))).toBe('slot_taken');
  expect((await book(publicId, start, { calendar: 'room' })).status).toBe(200);
});

test('seats run out exactly, and a larger booking’s refusal names the number left', async () => {
  const { publicId } = await newBookable(timetable({ calendar: { capacity: 5 }, service: { seats_max: 5 } }));
  const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
  expect((await book(publicId, start, { seats: 3 })).status).toBe(200);
  expect((await slots(publicId, dateIn(5)))[0]).toMatchObject({ start, seats_left: 2 });
  const refused = errorOf(await book(publicId, start, { seats: 3 }));
  expect([refused.code, refused.retryable]).toEqual(['slot_taken', false]);
  expect(refused.message).toContain('2 seats');
  expect((await book(publicId, start, { seats: 2 })).status).toBe(200);
  expect(code(await book(publicId, start))).toBe('slot_taken');
});

test('services of different lengths share their calendar’s seats, with their buffers', async () => {
  const [talk] = timetable().services;
  const { publicId } = await newBookable({
    ...timetable(),
    services: [
      { ...talk, duration_minutes: 60, step_minutes: 60, buffer_after_minutes: 30 },
      { ...talk, key: 'chat', duration_minutes: 30 },
    ],
  });
  const date = dateIn(5);
  const at = (time: string) => `${date}T${time}:00Z`;
  expect((await book(publicId, at('10:00'))).status).toBe(200);
  expect(code(await book(publicId, at('11:00'), { service: 'chat' }))).toBe('slot_taken');
  expect((await book(publicId, at('11:30'), { service: 'chat' })).status).toBe(200);
  expect((await book(publicId, at('09:30'), { service: 'chat' })).status).toBe(200);
  // Its half hour afterwards would reach into the chat at 09:30.
  expect(code(await book(publicId, at('09:00')))).toBe('slot_taken');
  expect((await book(publicId, at('08:00'))).status).toBe(200);
});

test('intake answers keep their order and are shown to the owner', async () => {
  const intake = [
    { name: 'guests', label: 'Guests', kind: 'number', required: true },
    { name: 'extras', label: 'Extras', kind: 'checkboxes', options: ['tea', 'cake'] },
    { name: 'terms', label: 'I agree', kind: 'checkbox', required: true },
  ];
  const { owner, publicId } = await newBookable(timetable({ service: { intake } }));
  const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
  const { body } = await book(publicId, start, { intake: { terms: true, extras: ['cake', 'tea'], guests: 3 } });
  expect(Object.entries(body.intake)).toEqual([
    ['guests', '3'],
    ['extras', ['tea', 'cake']],
    ['terms', 'yes'],
  ]);
  expect((await owner.call('GET', `/v1/bookings/${body.id}`)).body.intake).toEqual(body.intake);
});

describe('a booking repeated under its Idempotency-Key', () => {
  test('is the same one, also while the first is running', async () => {
    const { owner, site, publicId } = await newBookable(timetable({ calendar: { capacity: 9 } }));
    const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => book(publicId, start, {}, headers)));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect((await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items).toHaveLength(1);
    expect(
      code(await book(publicId, start, { seats: 1, visitor: { name: 'B', email: 'b@example.org' } }, headers)),
    ).toBe('idempotency_mismatch');
  });

  test('shows its current state', async () => {
    const { owner, publicId } = await newBookable();
    const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
    const headers = { 'idempotency-key': randomUUID() };
    const { body } = await book(publicId, start, {}, headers);
    await owner.call('POST', `/v1/bookings/${body.id}/cancel`);
    expect((await book(publicId, start, {}, headers)).body).toMatchObject({ id: body.id, status: 'cancelled' });
  });

  test('is a new one on another site, and after an error', async () => {
    const [one, two] = [await newBookable(), await newBookable()];
    const start = (await slots(one.publicId, dateIn(5)))[0]?.start ?? '';
    const headers = { 'idempotency-key': randomUUID() };
    expect(code(await book(one.publicId, '2001-01-01T00:00:00Z', {}, headers))).toBe('invalid_slot');
    const first = await book(one.publicId, start, {}, headers);
    const second = await book(two.publicId, start, {}, headers);
    expect([first.status, second.status]).toEqual([200, 200]);
    expect(second.body.id).not.toBe(first.body.id);
  });
});

describe('CORS of bookings', () => {
  const own = (name: string) => ({ origin: `http://${name}.sites.localhost:4480` });

  test('lets the site’s pages read and book, and no other pages', async () => {
    const { site, publicId } = await newBookable();
    const read = await anyone('GET', `/b/${publicId}`, { headers: own(site.name) });
    expect(read.headers.get('access-control-allow-origin')).toBe(own(site.name).origin);
    const foreign = await anyone('GET', `/b/${publicId}`, { headers: { origin: 'https://elsewhere.example' } });
    expect([foreign.status, foreign.headers.get('access-control-allow-origin')]).toEqual([200, null]);
    const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
    for (const headers of [
      { origin: 'https://elsewhere.example' },
      { origin: 'null' },
      { referer: 'https://elsewhere.example/x' },
    ]) {
      expect(code(await book(publicId, start, {}, headers as Record<string, string>))).toBe('invalid_origin');
    }
    const booked = await book(publicId, start, {}, own(site.name));
    expect([booked.status, booked.headers.get('access-control-allow-origin')]).toEqual([200, own(site.name).origin]);
    const refused = await book(publicId, start, {}, own(site.name));
    expect([code(refused), refused.headers.get('access-control-allow-origin')]).toEqual([
      'slot_taken',
      own(site.name).origin,
    ]);
  });

  test('answers browsers’ preflight requests for the site alone', async () => {
    const { site, publicId } = await newBookable();
    const asked = { 'access-control-request-method': 'POST', 'access-control-request-headers': 'content-type' };
    for (const path of ['', '/days', '/slots', '/challenge'].map((more) => `/b/${publicId}${more}`)) {
      const yes = await anyone('OPTIONS', path, { headers: { ...asked, ...own(site.name) } });
      const allowed = yes.headers.get('access-control-allow-headers');
      expect([path, yes.status, allowed]).toEqual([path, 204, 'content-type, idempotency-key']);
      const no = await anyone('OPTIONS', path, { headers: { ...asked, origin: 'https://elsewhere.example' } });
      expect([path, no.headers.get('access-control-allow-origin')]).toEqual([path, null]);
    }
  });
});

test('reads and bookings of an address have separate limits each minute', async () => {
  const strict = await createBookingFixture({ FRONTAGE_RATE_SCALE: '0.05' });
  try {
    const { publicId } = await strict.newBookable();
    const statuses = async (count: number, ask: () => Promise<Answer>) => {
      const answers = await Promise.all(Array.from({ length: count }, ask));
      return answers.filter(({ status }) => status !== 429).length;
    };
    expect(await statuses(8, () => strict.book(publicId, '2001-01-01T00:00:00Z'))).toBe(3);
    expect(await statuses(20, () => strict.anyone('GET', `/b/${publicId}`))).toBe(15);
    const refused = await strict.book(publicId, '2001-01-01T00:00:00Z');
    expect([code(refused), Number(refused.headers.get('retry-after')) > 0]).toEqual(['rate_limited', true]);
  } finally {
    await strict.close();
  }
});

test('bookings are listed newest first, in pages, by status and time', async () => {
  const { owner, site, publicId } = await newBookable(timetable({ calendar: { capacity: 9 } }));
  const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
  const ids: string[] = [];
  for (let at = 0; at < 5; at++) ids.unshift((await book(publicId, start)).body.id);
  await owner.call('POST', `/v1/bookings/${ids[1]}/cancel`);
  const list = async (query: string) => (await owner.call('GET', `/v1/sites/${site.id}/bookings${query}`)).body;
  const idsOf = (body: { items: { id: string }[] }) => body.items.map(({ id }) => id);
  const first = await list('?limit=2');
  expect(idsOf(first)).toEqual(ids.slice(0, 2));
  expect(idsOf(await list(`?limit=50&cursor=${first.next_cursor}`))).toEqual(ids.slice(2));
  expect(idsOf(await list('?status=cancelled'))).toEqual([ids[1]]);
  expect(idsOf(await list('?status=confirmed'))).toEqual(ids.filter((_id, at) => at !== 1));
  const since = (await owner.call('GET', `/v1/bookings/${ids[1]}`)).body.created_at;
  expect(idsOf(await list(`?since=${encodeURIComponent(since)}`))).toEqual(ids.slice(0, 2));
  // Each takes place in the hour from its start.
  const around = async (from: number, to: number) => {
    const [first, last] = [from, to].map((minutes) => new Date(Date.parse(start) + minutes * 60_000).toISOString());
    return (await list(`?from=${first}&to=${last}`)).items.length;
  };
  expect([await around(-60, 0), await around(-60, 1), await around(59, 90), await around(60, 90)]).toEqual([
    0, 5, 5, 0,
  ]);
  const wrong = async (query: string) => code(await owner.call('GET', `/v1/sites/${site.id}/bookings${query}`));
  expect(await wrong('?status=lost')).toBe('invalid_status');
  expect(await wrong('?since=yesterday')).toBe('invalid_since');
  expect(await wrong(`?status=held&cursor=${first.next_cursor}`)).toBe('invalid_cursor');
});
