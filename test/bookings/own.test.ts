/** Bookings and blocks that a site's people make themselves. */
import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from 'vitest';
import { type Answer, type Caller, errorOf } from '#test/api/fixture.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1000' });
afterAll(() => fixture.close());
const { newBookable, book, slots, dateIn } = fixture;
const codeOf = (answer: Answer) => (answer.status === 200 ? 'made' : errorOf(answer).code);
const codes = (answers: Answer[]) => answers.map(codeOf);
const count = (answers: Answer[], code: string) => codes(answers).filter((one) => one === code).length;

async function opened(capacity = 1, more: object = {}) {
  const made = await newBookable(timetable({ calendar: { capacity }, service: { seats_max: capacity }, ...more }));
  const [first, second] = await slots(made.publicId, dateIn(5));
  const path = `/v1/sites/${made.site.id}/bookings`;
  const add = (
    body: object,
    { by = made.owner, headers = {} }: { by?: Caller; headers?: Record<string, string> } = {},
  ) => by.call('POST', path, { body: { kind: 'booking', calendar: 'room', ...body }, headers });
  const start = first?.start ?? '';
  const talk = (body: object = {}, options = {}) => add({ service: 'talk', start, ...body }, options);
  const block = (body: object = {}, options = {}) => add({ kind: 'block', start, end: first?.end, ...body }, options);
  const left = async () =>
    (await slots(made.publicId, dateIn(5))).find((slot) => slot.start === start)?.seats_left ?? 0;
  return { ...made, path, add, talk, block, start, end: first?.end ?? '', next: second?.start ?? '', left };
}

describe('a booking of the site’s people', () => {
  test('takes the seat at once, for a person without an address', async () => {
    const { owner, site, talk, publicId, start, end, left } = await opened();
    const guest = await fixture.newCollaborator(owner, site.id);
    const { status, body } = await talk({ visitor: { name: 'Berta Telephone' } }, { by: guest });
    expect([status, body]).toMatchObject([
      200,
      {
        ...{ kind: 'booking', status: 'confirmed', service: 'talk', calendar: 'room', start, end, seats: 1 },
        ...{ visitor: { name: 'Berta Telephone' }, created_by: guest.accountId, mail: null, payment_id: null },
      },
    ]);
    expect(body.next_action).toBeUndefined();
    expect([await left(), codeOf(await book(publicId, start))]).toEqual([0, 'slot_taken']);
    expect((await owner.call('GET', `/v1/bookings/${body.id}`)).body).toEqual(body);
    const history = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body.items[0];
    expect(history).toMatchObject({
      action: 'booking.created',
      subject: { id: body.id, name: body.reference },
      detail: { kind: 'booking', calendar: 'room' },
    });
    expect(JSON.stringify(history)).not.toContain('Berta');
    expect((await owner.call('POST', `/v1/bookings/${body.id}/cancel`)).body.status).toBe('cancelled');
    expect(await left()).toBe(1);
  });

  test('sends a person with an address the visitor’s e-mail', async () => {
    const { talk, owner, bookable } = await opened();
    const { body } = await talk({ visitor: { name: 'Carla', email: ' Carla@Example.org ' } });
    expect(body).toMatchObject({ mail: 'queued', visitor: { name: 'Carla' } });
    const kinds = await fixture.deps
      .em()
      .execute<{ kind: string }[]>('select kind from mail where site_id = ? order by kind', [bookable.site_id]);
    expect(kinds.map(({ kind }) => kind)).toEqual(['booking-confirmed', 'booking-taken']);
    expect(JSON.stringify((await owner.call('GET', `/v1/bookings/${body.id}`)).body)).not.toMatch(/example\.org/i);
  });

  test('may be outside the timetable, which the response says', async () => {
    const hours = [{ days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'], from: '09:00', to: '10:00' }];
    const service = { lead_minutes: 7 * 24 * 60, horizon_days: 10 };
    const { owner, site } = await newBookable(timetable({ calendar: { hours }, service }));
    const talk = (start: string) =>
      owner.call('POST', `/v1/sites/${site.id}/bookings`, {
        body: { kind: 'booking', calendar: 'room', service: 'talk', start },
      });
    const start = `${dateIn(2)}T20:10:00Z`;
    const odd = (await talk(start)).body;
    expect(odd.next_action).toContain(`/v1/bookings/${odd.id}/cancel`);
    expect(Date.parse(odd.start)).toBe(Date.parse(start));
    const zone = (await talk(`${dateIn(100)}T09:00:00Z`)).body;
    expect(zone.status).toBe('confirmed');
    expect((await owner.call('GET', `/v1/bookings/${odd.id}`)).body.next_action).toBeUndefined();
  });

  test('costs nothing, and counts neither as a visitor’s booking nor as news', async () => {
    const price = { amount: 1000, currency: 'EUR' };
    const { owner, talk, publicId, next } = await opened(9, { service: { price, seats_max: 9 } });
    const made = await Promise.all(
      Array.from({ length: 7 }, () => talk({ visitor: { name: 'Ada', email: 'ada@example.org' } })),
    );
    expect(new Set(codes(made))).toEqual(new Set(['made']));
    expect(made[0]?.body).toMatchObject({ status: 'confirmed', payment_id: null, pay_url: null });
    expect((await owner.call('GET', '/v1/inbox')).body.items).toEqual([]);
    expect(codeOf(await book(publicId, next))).toBe('payments_unavailable');
  });
});

describe('a block', () => {
  test('keeps every seat of its time free, and is cancelled like a booking', async () => {
    const { owner, block, publicId, start, end, left, talk } = await opened(3);
    const { body } = await block();
    expect(body).toMatchObject({
      ...{ kind: 'block', status: 'confirmed', service: null, visitor: null, seats: 3, start, end, mail: null },
    });
    expect([await left(), codeOf(await book(publicId, start)), codeOf(await talk())]).toEqual([
      0,
      'slot_taken',
      'slot_taken',
    ]);
    expect((await owner.call('POST', `/v1/bookings/${body.id}/cancel`)).body.status).toBe('cancelled');
    expect(await left()).toBe(3);
  });

  test('is refused over a booking, unless it needs only the free seats', async () => {
    const { block, start, left, publicId } = await opened(3);
    expect((await book(publicId, start)).status).toBe(200);
    const refused = errorOf(await block());
    expect([refused.code, refused.message]).toEqual(['slot_taken', 'Only 2 of 3 seats are free at this time.']);
    expect([codeOf(await block({ seats: 2 })), await left()]).toEqual(['made', 0]);
  });

  test('still keeps the whole calendar after its capacity has changed', async () => {
    const { owner, site, block, left, path } = await opened(2);
    const { body } = await block();
    for (const capacity of [4, 1, 3]) {
      const input = timetable({ calendar: { capacity }, service: { seats_max: 1 } });
      expect((await owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: input })).status).toBe(200);
      expect([capacity, await left()]).toEqual([capacity, 0]);
      expect((await owner.call('GET', `/v1/bookings/${body.id}`)).body.seats).toBe(capacity);
    }
    expect((await owner.call('GET', `${path}?kind=booking`)).body.items).toEqual([]);
    expect((await owner.call('GET', `${path}?kind=block`)).body.items).toHaveLength(1);
    const declared = await owner.call('GET', `/v1/sites/${site.id}/bookable`);
    expect(declared.body.live_bookings).toBe(0);
  });

  test('does not grow over a booking that a smaller capacity left beside it', async () => {
    const { owner, site, block, publicId, start } = await opened(2);
    expect((await book(publicId, start)).status).toBe(200);
    const { body } = await block({ seats: 1 });
    const declare = (capacity: number, more: object = {}) =>
      owner.call('POST', `/v1/sites/${site.id}/bookable`, {
        body: { ...timetable({ calendar: { capacity }, service: { seats_max: 1 } }), ...more },
      });
    expect(codeOf(await declare(1))).toBe('confirm_required');
    expect(codeOf(await declare(1, { confirm: true }))).toBe('made');
    expect(codeOf(await declare(2))).toBe('made');
    expect((await owner.call('GET', `/v1/bookings/${body.id}`)).body.seats).toBe(1);
  });
});

test('each input that fits no booking is refused with what to send', async () => {
  const { add, talk, block, start, end } = await opened();
  const before = `${dateIn(-2)}T10:00:00Z`;
  const far = `${dateIn(800)}T10:00:00Z`;
  const cases: [Promise<Answer>, string][] = [
    [talk({ service: undefined }), 'invalid_service'],
    [talk({ service: 'walk' }), 'invalid_service'],
    [talk({ calendar: 'attic' }), 'invalid_calendar'],
    [block({ calendar: 'attic' }), 'invalid_calendar'],
    [talk({ end }), 'invalid_json'],
    [talk({ start: before }), 'invalid_slot'],
    [talk({ start: far }), 'invalid_slot'],
    [talk({ start: 'noon' }), 'invalid_slot'],
    [talk({ seats: 2 }), 'slot_taken'],
    [talk({ visitor: { name: 'www.example.com' } }), 'invalid_visitor'],
    [talk({ visitor: { name: 'Ada', email: 'ada' } }), 'invalid_visitor'],
    [talk({ visitor: { name: 'Ada', notify_changes: true } }), 'invalid_visitor'],
    [talk({ visitor: { name: 'Ada', remind: true } }), 'invalid_visitor'],
    [talk({ visitor: { name: 'Ada', remind: 'yes' } }), 'invalid_visitor'],
    [block({ service: 'talk' }), 'invalid_json'],
    [block({ visitor: { name: 'Ada' } }), 'invalid_json'],
    [block({ end: undefined }), 'invalid_slot'],
    [block({ end: start }), 'invalid_slot'],
    [block({ start: before, end: before.replace('T10', 'T11') }), 'invalid_slot'],
    [block({ end: `${dateIn(10)}T10:00:00Z` }), 'invalid_slot'],
    [add({ kind: 'holiday', start }), 'invalid_json'],
  ];
  for (const [at, [answer, code]] of cases.entries()) expect([at, codeOf(await answer)]).toEqual([at, code]);
  const { owner, site } = await newBookable();
  await owner.call('DELETE', `/v1/sites/${site.id}/bookable?confirm=true`);
  const body = { kind: 'block', calendar: 'room', start, end };
  expect(codeOf(await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body }))).toBe('not_found');
});

test('a site’s people have at most 5,000 bookings that have not ended', async () => {
  const { owner, site, talk } = await opened();
  await fixture.deps.em().execute(
    `insert into booking (id, site_id, calendar_id, kind, created_by_id, reference, status, service_key, service_name, starts_at, ends_at,
       busy_from, busy_until, seats, visitor_name, visitor_hash, intake, cancel_hash, created_at)
     select 'book_' || n, site_id, id, 'block', ?, n::text, 'confirmed', '', '', at, at + interval '1 minute', at, at + interval '1 minute', 1,
       '', sha256(n::text::bytea), '[]', sha256((site_id || n)::bytea), now()
     from calendar, generate_series(1, 5000) n, lateral (select now() + interval '20 days' + n * interval '2 hours' as at) times
     where site_id = ?`,
    [owner.accountId, site.id],
  );
  const refused = errorOf(await talk());
  expect([refused.code, refused.message]).toEqual(['plan_limit', expect.stringContaining('5000')]);
});

describe('concurrent calls', () => {
  test('of visitors and the site’s people never oversell', async () => {
    const { talk, publicId, start, left } = await opened(5);
    const answers = await Promise.all(
      Array.from({ length: 24 }, (_, at) =>
        at % 2 === 0 ? talk({ visitor: { name: 'Own' } }) : book(publicId, start),
      ),
    );
    expect([count(answers, 'made'), count(answers, 'slot_taken'), await left()]).toEqual([5, 19, 0]);
  });

  test('give the time to the block or to bookings, never to both', async () => {
    for (let round = 0; round < 6; round++) {
      const { talk, block, publicId, start } = await opened(4);
      const acts = [block, talk, block, () => book(publicId, start), () => book(publicId, start), talk];
      const turned = [...acts.slice(round), ...acts.slice(0, round)];
      const answers = await Promise.all(turned.map((act) => act()));
      const blocks = answers.filter(({ status, body }) => status === 200 && body.kind === 'block').length;
      const bookings = count(answers, 'made') - blocks;
      expect([
        [1, 0],
        [0, 4],
      ]).toContainEqual([blocks, bookings]);
    }
  });

  test('under one Idempotency-Key make one booking', async () => {
    const { talk, owner, path } = await opened(9);
    const headers = { 'idempotency-key': randomUUID() };
    const answers = await Promise.all(Array.from({ length: 8 }, () => talk({}, { headers })));
    expect(new Set(answers.map(({ body }) => body.id)).size).toBe(1);
    expect((await owner.call('GET', path)).body.items).toHaveLength(1);
    expect(codeOf(await talk({ seats: 2 }, { headers }))).toBe('idempotency_mismatch');
  });
});
