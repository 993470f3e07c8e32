import { afterAll, describe, expect, test } from 'vitest';
import { momentIn } from '#rules/bookings/written-times.ts';
import { errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from './fixture.ts';
import { daily, timetable } from './timetable.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());
const { newBookable, newSite, anyone, book, slots, dateIn } = fixture;

test('a timetable is declared, read back with its defaults, and replaced completely', async () => {
  const { owner, site, bookable } = await newBookable();
  expect(bookable).toMatchObject({ site_id: site.id, status: 'open', mail: 'sent', live_bookings: 0, ended_at: null });
  expect(bookable.url).toBe(`${fixture.config.baseUrl}/b/${bookable.public_id}`);
  expect(bookable.notify_options).toEqual([bookable.notify_to]);
  expect(bookable.services[0]).toMatchObject({
    step_minutes: 60,
    buffer_before_minutes: 0,
    lead_minutes: 0,
    seats_max: 1,
    price: null,
    intake: [],
  });
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookable`)).body).toEqual(bookable);
  const next = timetable({ calendar: { key: 'hall', capacity: 9 }, service: { calendar_keys: ['hall'] } });
  const { body } = await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: next });
  expect(body.calendars.map(({ key }: { key: string }) => key)).toEqual(['hall']);
});

test('a declaration repeated under its Idempotency-Key is applied once', async () => {
  const { owner, site } = await newBookable();
  const headers = { 'idempotency-key': 'declare-1' };
  const path = `/v1/sites/${site.id}/bookable`;
  const first = await owner.call('POST', path, { body: timetable({ calendar: { capacity: 3 } }), headers });
  const second = await owner.call('POST', path, { body: timetable({ calendar: { capacity: 3 } }), headers });
  expect(second.body).toEqual(first.body);
  const other = await owner.call('POST', path, { body: timetable(), headers });
  expect(errorOf(other).code).toBe('idempotency_mismatch');
});

const hours = (from: string, to: string) => ({ calendar: { hours: [{ days: ['mon'], from, to }] } });
const faults: [string, object, string][] = [
  ['no calendar', { ...timetable(), calendars: [] }, 'calendars'],
  ['no service', { ...timetable(), services: [] }, 'services'],
  ['nothing at all', {}, 'calendars'],
  ['more seats than its calendars have', timetable({ service: { seats_max: 2 } }), 'services.0.seats_max'],
  [
    'two calendars of one key',
    { ...timetable(), calendars: [...timetable().calendars, ...timetable().calendars] },
    'room',
  ],
  ['two services of one key', { ...timetable(), services: [...timetable().services, ...timetable().services] }, 'talk'],
  ['an unknown zone', timetable({ calendar: { time_zone: 'Mars/Olympus' } }), 'calendars.0.time_zone'],
  ['a zone that is a bare distance', timetable({ calendar: { time_zone: '+02:00' } }), 'calendars.0.time_zone'],
  ['a window that ends before it begins', timetable(hours('22:00', '02:00')), 'calendars.0.hours.0'],
  ['an invalid time', timetable(hours('09:60', '10:00')), 'calendars.0.hours.0'],
  ['a time without its leading zero', timetable(hours('9:00', '10:00')), 'calendars.0.hours.0'],
  [
    'windows that overlap',
    timetable({ calendar: { hours: [...daily, { days: ['wed'], from: '12:00', to: '13:00' }] } }),
    'on wed',
  ],
  [
    'an invalid date',
    timetable({ calendar: { exceptions: [{ date: '2026-02-30', hours: [] }] } }),
    'exceptions.0.date',
  ],
  [
    'a date twice',
    timetable({
      calendar: {
        exceptions: [
          { date: '2026-12-24', hours: [] },
          { date: '2026-12-24', hours: [] },
        ],
      },
    }),
    'exceptions',
  ],
  ['an unknown calendar', timetable({ service: { calendar_keys: ['cellar'] } }), 'cellar'],
  ['a service of no calendar', timetable({ service: { calendar_keys: [] } }), 'services.0.calendar_keys'],
  ['no capacity', timetable({ calendar: { capacity: 0 } }), 'calendars.0.capacity'],
  [
    'a currency that is none',
    timetable({ service: { price: { amount: 100, currency: 'XQX' } } }),
    'services.0.price.currency',
  ],
  [
    'a price of half a cent',
    timetable({ service: { price: { amount: 0.5, currency: 'EUR' } } }),
    'services.0.price.amount',
  ],
  [
    'an intake field of no kind',
    timetable({ service: { intake: [{ name: 'a', label: 'A', kind: 'colour' }] } }),
    'services.0.intake.0.kind',
  ],
  ['more seats than any calendar has', timetable({ service: { seats_max: 10_000 } }), 'services.0.seats_max'],
];

test.each(faults)('a timetable with %s is refused with the faulty place', async (_what, input, where) => {
  const owner = await fixture.newCaller();
  const site = await newSite(owner);
  const error = errorOf(await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: input }));
  expect(error.code).toBe('invalid_timetable');
  expect(error.message).toContain(where);
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookable`)).status).toBe(404);
});

test('notify_to must be a member of the site, and is reset when they leave', async () => {
  const { owner, site, bookable } = await newBookable();
  const path = `/v1/sites/${site.id}/bookable`;
  const declare = (notify_to: unknown) => owner.call('POST', path, { body: timetable({ notify_to }) });
  expect(errorOf(await declare('not an address')).code).toBe('invalid_notify_to');
  expect(errorOf(await declare(7)).code).toBe('invalid_notify_to');
  expect(errorOf(await declare('stranger@example.com')).code).toBe('notify_to_not_on_site');
  const guest = await fixture.newCollaborator(owner, site.id);
  const address = await fixture.emailOf(guest);
  expect((await declare(address)).body).toMatchObject({ notify_to: address });
  expect((await declare(undefined)).body.notify_to).toBe(address);
  const removed = await fixture.remove(owner, site.id, guest.accountId);
  expect(removed.body.moved.bookable).toEqual([site.id]);
  expect((await owner.call('GET', path)).body.notify_to).toBe(bookable.notify_to);
});

describe('changes that affect live bookings', () => {
  async function booked(input = timetable({ calendar: { capacity: 3 }, service: { seats_max: 3 } })) {
    const made = await newBookable(input);
    const [slot] = await slots(made.publicId, dateIn(10));
    const { status, text } = await book(made.publicId, slot?.start ?? '', { seats: 3 });
    if (status !== 200) throw new Error(text);
    const declare = (body: object) => made.owner.call('POST', `/v1/sites/${made.site.id}/bookable`, { body });
    return { ...made, declare, start: slot?.start ?? '' };
  }

  const losses: [string, (start: string) => object, string][] = [
    [
      'dropping its calendar',
      () => timetable({ calendar: { key: 'hall' }, service: { calendar_keys: ['hall'] } }),
      'there is no calendar room',
    ],
    [
      'dropping its service',
      () => timetable({ calendar: { capacity: 3 }, service: { key: 'other' } }),
      'there is no service talk in calendar room',
    ],
    ['fewer seats', () => timetable({ calendar: { capacity: 2 } }), 'the calendar room has too few seats left'],
    [
      'shorter hours',
      () => timetable({ calendar: { capacity: 3, hours: [] } }),
      'the calendar room is closed at that time',
    ],
    [
      'a holiday',
      (start) => timetable({ calendar: { capacity: 3, exceptions: [{ date: start.slice(0, 10), hours: [] }] } }),
      'the calendar room is closed at that time',
    ],
  ];
  test.each(losses)('%s needs confirmation, and keeps the booking unchanged', async (_what, next, reason) => {
    const { owner, site, declare, start } = await booked();
    const error = errorOf(await declare(next(start)));
    expect(error.code).toBe('confirm_required');
    expect(error.message).toContain(`1: ${reason}`);
    expect((await declare({ ...next(start), confirm: true })).body).toMatchObject({ live_bookings: 1 });
    const { body } = await owner.call('GET', `/v1/sites/${site.id}/bookings`);
    expect(body.items).toHaveLength(1);
    const [{ id, reference }] = body.items;
    expect(error.message).toContain(`${momentIn(start, 'Europe/Berlin')}, reference ${reference} (${id}). Saving`);
    expect(body.items[0]).toMatchObject({ status: 'confirmed', calendar: 'room', start });
    // What stands on nothing any more can lose nothing more.
    expect((await declare(next(start))).status).toBe(200);
  });

  test('changes that affect no booking need no confirmation', async () => {
    const { declare } = await booked();
    const next = timetable({
      calendar: { capacity: 5, name: 'The room' },
      service: { duration_minutes: 30, lead_minutes: 60 },
    });
    expect((await declare(next)).status).toBe(200);
  });

  test('bookings are stopped only after confirmation, and existing bookings and calendars stay', async () => {
    const { owner, site, publicId, declare, start } = await booked();
    const path = `/v1/sites/${site.id}/bookable`;
    const error = errorOf(await owner.call('DELETE', path));
    expect(error.code).toBe('confirm_required');
    expect(error.message).toContain('1 active booking ');
    expect(error.message).toContain('1 calendar ');
    const ended = await owner.call('DELETE', `${path}?confirm=true`);
    expect(ended.body).toMatchObject({ status: 'ended', live_bookings: 1 });
    expect((await owner.call('GET', path)).status).toBe(404);
    for (const part of ['', '/days?service=talk', `/slots?service=talk&date=${start.slice(0, 10)}`]) {
      expect(errorOf(await anyone('GET', `/b/${publicId}${part}`)).code).toBe('bookings_unavailable');
    }
    expect(errorOf(await book(publicId, start)).code).toBe('bookings_unavailable');
    const em = fixture.deps.em();
    const rows = await em.execute('select archived_at from calendar where site_id = ?', [site.id]);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.archived_at).not.toBe(null);
    // The same calendar, so what was sold in it is sold.
    expect((await declare(timetable({ calendar: { capacity: 3 } }))).status).toBe(200);
    expect(errorOf(await book(publicId, start)).code).toBe('slot_taken');
  });
});

test('an archived site accepts no bookings and keeps its timetable', async () => {
  const { owner, site, publicId } = await newBookable();
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect(errorOf(await anyone('GET', `/b/${publicId}`)).code).toBe('bookings_unavailable');
  expect(errorOf(await book(publicId, `${dateIn(3)}T10:00:00Z`)).code).toBe('bookings_unavailable');
  expect(errorOf(await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: timetable() })).code).toBe(
    'site_archived',
  );
  await owner.call('POST', `/v1/sites/${site.id}/unarchive`);
  expect((await anyone('GET', `/b/${publicId}`)).status).toBe(200);
});

test('with bookings disabled, every call is bookings_unavailable', async () => {
  const off = await createBookingFixture({ FRONTAGE_BOOKINGS: 'off' });
  try {
    const owner = await off.newCaller();
    const site = await off.newSite(owner);
    const calls = [
      owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: timetable() }),
      owner.call('GET', `/v1/sites/${site.id}/bookings`),
      off.anyone('GET', `/b/${(await owner.call('GET', `/v1/sites/${site.id}`)).body.public_id}`),
    ];
    for (const answer of await Promise.all(calls)) expect(errorOf(answer).code).toBe('bookings_unavailable');
  } finally {
    await off.close();
  }
});

test('strangers see neither the timetable nor bookings', async () => {
  const { site, publicId } = await newBookable();
  const stranger = await fixture.newCaller();
  const [slot] = await slots(publicId, dateIn(5));
  const { body } = await book(publicId, slot?.start ?? '');
  for (const [method, path] of [
    ['GET', `/v1/sites/${site.id}/bookable`],
    ['GET', `/v1/sites/${site.id}/bookings`],
    ['GET', `/v1/bookings/${body.id}`],
    ['POST', `/v1/bookings/${body.id}/cancel`],
  ] as const) {
    expect(errorOf(await stranger.call(method, path)).code).toBe('not_found');
  }
});
