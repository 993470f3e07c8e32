/** Times that a timetable declares: steps by default, and exceptions of several days. */
import { afterAll, expect, test } from 'vitest';
import { createBookingFixture } from './fixture.ts';
import { timetable } from './timetable.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());
const { newBookable, anyone, slots, dateIn } = fixture;

test('by default the next slot starts after the buffers of the last', async () => {
  const service = { duration_minutes: 45, buffer_before_minutes: 5, buffer_after_minutes: 10 };
  const { bookable, publicId, owner, site } = await newBookable(timetable({ service }));
  expect(bookable.services[0].step_minutes).toBe(60);
  const [first, second] = await slots(publicId, dateIn(5));
  expect(Date.parse(second?.start ?? '') - Date.parse(first?.start ?? '')).toBe(3600_000);
  const { body } = await owner.call('POST', `/v1/sites/${site.id}/bookable`, {
    body: timetable({ service: { ...service, step_minutes: 15 } }),
  });
  expect(body.services[0].step_minutes).toBe(15);
});

test('a holiday is one exception, and earlier timetables are still read', async () => {
  const exceptions = [
    { date: dateIn(3), hours: [{ from: '09:00', to: '10:00' }] },
    { from: dateIn(10), to: dateIn(30), hours: [] },
  ];
  const { bookable, publicId, owner, site } = await newBookable(timetable({ calendar: { exceptions } }));
  expect(bookable.calendars[0].exceptions).toEqual(exceptions);
  const days = await anyone('GET', `/b/${publicId}/days?service=talk&from=${dateIn(2)}&to=${dateIn(40)}`);
  const open = days.body.days.map(({ date }: { date: string }) => date);
  for (const [day, isOpen] of [
    [9, true],
    [10, false],
    [20, false],
    [30, false],
    [31, true],
  ] as const)
    expect([day, open.includes(dateIn(day))]).toEqual([day, isOpen]);
  expect(await slots(publicId, dateIn(3))).toHaveLength(1);

  const em = fixture.deps.em();
  await em.execute('update calendar set exceptions = ? where site_id = ?', [
    JSON.stringify(exceptions.slice(0, 1)),
    site.id,
  ]);
  await em.execute(`update bookable set services = jsonb_set(services, '{0,seats_max}', '7') where site_id = ?`, [
    site.id,
  ]);
  const read = (await owner.call('GET', `/v1/sites/${site.id}/bookable`)).body;
  expect([read.calendars[0].exceptions, read.services[0].seats_max]).toEqual([exceptions.slice(0, 1), 7]);
  expect(await slots(publicId, dateIn(20))).not.toHaveLength(0);
});
