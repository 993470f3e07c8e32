/** A timetable changed or closed while seats are booked: every booking fits what was declared, or is refused. */
import { afterAll, expect, test } from 'vitest';
import { type Answer, errorOf } from '#test/api/fixture.ts';
import { loseNextAnswer } from '#test/requests/lost-answer.ts';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1000' });
afterAll(() => fixture.close());
const { newBookable, newSite, book, slots, dateIn } = fixture;
const outcomes = (answers: Answer[]) =>
  new Set(answers.map((answer) => (answer.status === 200 ? 'taken' : errorOf(answer).code)));
const wide = timetable({ calendar: { capacity: 40 } });

async function meanwhile(publicId: string, act: () => Promise<Answer>): Promise<{ answers: Answer[]; acted: Answer }> {
  const [slot] = await slots(publicId, dateIn(5));
  const books = Array.from({ length: 24 }, () => book(publicId, slot?.start ?? ''));
  const acted = await act();
  return { answers: await Promise.all(books), acted };
}

test('reducing seats during bookings needs confirmation, or leaves no more than the new number', async () => {
  const { owner, site, publicId } = await newBookable(wide);
  const { answers, acted } = await meanwhile(publicId, () =>
    owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: timetable({ calendar: { capacity: 3 } }) }),
  );
  const taken = answers.filter(({ status }) => status === 200).length;
  expect(['taken', 'slot_taken']).toEqual(expect.arrayContaining([...outcomes(answers)]));
  if (acted.status === 200) expect(taken).toBe(3);
  else expect([errorOf(acted).code, taken]).toEqual(['confirm_required', 24]);
});

test('removing a service while it is booked keeps every accepted booking', async () => {
  const { owner, site, publicId } = await newBookable(wide);
  const other = timetable({ service: { key: 'walk' } });
  const { answers, acted } = await meanwhile(publicId, () =>
    owner.call('POST', `/v1/sites/${site.id}/bookable`, { body: { ...other, confirm: true } }),
  );
  expect(acted.status).toBe(200);
  expect(['taken', 'invalid_service', 'invalid_slot', 'slot_taken']).toEqual(
    expect.arrayContaining([...outcomes(answers)]),
  );
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/bookings?limit=100`);
  expect(body.items).toHaveLength(answers.filter(({ status }) => status === 200).length);
});

test('disabling bookings or archiving a site while visitors book keeps exactly the accepted bookings', async () => {
  for (const [method, path] of [
    ['DELETE', '/bookable?confirm=true'],
    ['POST', '/archive'],
  ] as const) {
    const { owner, site, publicId } = await newBookable(wide);
    const { answers, acted } = await meanwhile(publicId, () => owner.call(method, `/v1/sites/${site.id}${path}`));
    expect(acted.status).toBe(200);
    expect(['taken', 'bookings_unavailable']).toEqual(expect.arrayContaining([...outcomes(answers)]));
    const rows = await fixture.deps.em().execute('select 1 from booking where site_id = ?', [site.id]);
    expect(rows).toHaveLength(answers.filter(({ status }) => status === 200).length);
  }
});

function dailyFrom(hours: { from: string; to: string }, service: object) {
  const days = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'];
  return timetable({ calendar: { capacity: 1, hours: [{ days, ...hours }] }, service });
}

test.each([
  ['a day long', { duration_minutes: 1440, step_minutes: 1440 }, { from: '00:00', to: '24:00' }],
  ['as long as the window', { duration_minutes: 480, step_minutes: 15 }, { from: '09:00', to: '17:00' }],
])('a service that is %s is offered once and booked whole', async (_what, service, hours) => {
  const { publicId } = await newBookable(dailyFrom(hours, service));
  const date = dateIn(6);
  const offered = await slots(publicId, date);
  expect(offered).toHaveLength(1);
  const start = offered[0]?.start as string;
  expect((await book(publicId, start)).status).toBe(200);
  expect(await slots(publicId, date)).toEqual([]);
  expect(errorOf(await book(publicId, start)).code).toBe('slot_taken');
});

test('a service that is a minute longer than the window is not offered', async () => {
  const service = { duration_minutes: 481, step_minutes: 15 };
  const { publicId } = await newBookable(dailyFrom({ from: '09:00', to: '17:00' }, service));
  expect(await slots(publicId, dateIn(6))).toEqual([]);
});

test('where e-mails go changes without another timetable', async () => {
  const { owner, site, bookable } = await newBookable();
  const path = `/v1/sites/${site.id}/bookable`;
  const change = (body: object) => owner.call('PATCH', path, { body });
  const own = bookable.notify_to;
  const { body } = await change({ reply_to: own, fallback: 'Call 030 1234' });
  expect(body).toEqual({ ...bookable, reply_to: own, fallback: 'Call 030 1234' });
  expect((await change({ notify_to: own, reply_to: null })).body).toEqual({ ...bookable, fallback: 'Call 030 1234' });
  expect(errorOf(await change({ notify_to: 'stranger@example.com' })).code).toBe('notify_to_not_on_site');
  expect(errorOf(await change({ notify_to: 'nobody' })).code).toBe('invalid_notify_to');
  expect(errorOf(await change({ calendars: [] })).code).toBe('invalid_json');
  const { id } = await newSite(owner);
  const without = await owner.call('PATCH', `/v1/sites/${id}/bookable`, { body: { notify_to: own } });
  expect(errorOf(without).code).toBe('not_found');
});

test('a declaration whose answer was lost is not made again, after a later one', async () => {
  const { owner, site } = await newBookable();
  const path = `/v1/sites/${site.id}/bookable`;
  const declare = (capacity: number, headers = {}) =>
    owner.call('POST', path, { body: timetable({ calendar: { capacity } }), headers });
  const repeated = () => declare(3, { 'idempotency-key': 'declared' });
  const restore = loseNextAnswer(fixture, 'transactional');
  expect((await repeated()).status).toBe(500);
  restore();
  expect((await owner.call('GET', path)).body.calendars[0].capacity).toBe(3);
  expect((await declare(5)).status).toBe(200);
  for (let times = 0; times < 2; times++)
    expect((await repeated()).body).toMatchObject({ calendars: [{ capacity: 5 }] });
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
  expect(items.filter(({ action }: { action: string }) => action === 'timetable.replaced')).toHaveLength(3);
  expect(fixture.takeUnexpected()).toHaveLength(1);
});
