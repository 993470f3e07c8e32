/** Bookings in the inbox: new ones, and those that somebody moved. */
import { afterAll, expect, test } from 'vitest';
import { momentIn } from '#rules/bookings/written-times.ts';
import { dayMs } from '#rules/time.ts';
import type { Caller } from '#test/api/fixture.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { clearInbox } from './fixture.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());
const { newBookable, book, slots, dateIn } = fixture;

test('a move by another person returns a booking to the inbox, with their name', async () => {
  const { owner, site, publicId } = await fixture.newBookable();
  const [first, second, third] = (await fixture.slots(publicId, fixture.dateIn(5))).map(({ start }) => start);
  const booking = (await fixture.book(publicId, first ?? '')).body;
  const member = await fixture.newCollaborator(owner, site.id);
  const moveBy = async (caller: Caller, start: string | undefined) =>
    expect((await caller.call('POST', `/v1/bookings/${booking.id}/move`, { body: { start } })).status).toBe(200);
  const itemsOf = async (caller: Caller) => (await caller.call('GET', '/v1/inbox')).body.items;
  await clearInbox(owner);
  await clearInbox(member);
  await moveBy(member, second);
  const who = (await member.call('GET', '/v1/account')).body.name;
  expect(await itemsOf(owner)).toMatchObject([{ kind: 'new_booking', id: booking.id, who }]);
  expect((await itemsOf(owner))[0].title).toMatch(
    new RegExp(`^${who} moved the booking of Ada Visitor for A talk on `),
  );
  expect(await itemsOf(member)).toEqual([]);
  await moveBy(owner, third);
  expect([await itemsOf(owner), (await itemsOf(member)).length]).toEqual([[], 1]);
  const own = (await fixture.book(publicId, first ?? '')).body;
  expect((await owner.call('POST', `/v1/bookings/${own.id}/move`, { body: { start: second } })).status).toBe(200);
  const name = (await owner.call('GET', '/v1/account')).body.name;
  const time = momentIn(second ?? '', 'Europe/Berlin');
  const title = `Ada Visitor booked A talk on ${site.title}. ${name} moved the booking to ${time}.`;
  expect(await itemsOf(owner)).toMatchObject([{ id: own.id, title }]);
});

test('a new booking leaves the inbox when cancelled, over or a week old', async () => {
  const { owner, site, publicId } = await newBookable();
  const start = (await slots(publicId, dateIn(5)))[0]?.start ?? '';
  const { body } = await book(publicId, start);
  const waiting = async () => (await owner.call('GET', '/v1/inbox')).body.items;
  expect(await waiting()).toContainEqual(
    expect.objectContaining({
      kind: 'new_booking',
      id: body.id,
      site: expect.objectContaining({ id: site.id }),
      slot: null,
      who: 'Ada Visitor',
      title: `Ada Visitor booked A talk on ${site.title} for ${momentIn(start, 'Europe/Berlin')}.`,
    }),
  );
  await owner.call('POST', `/v1/bookings/${body.id}/cancel`);
  expect(await waiting()).toEqual([]);
  const ids: string[] = [];
  for (const days of [9, 2])
    ids.push((await book(publicId, (await slots(publicId, dateIn(days)))[0]?.start ?? '')).body.id);
  const [later, sooner] = ids;
  const listed = async () => (await waiting()).map(({ id }: { id: string }) => id);
  expect(await listed()).toEqual([sooner, later]);
  fixture.skip(3 * dayMs);
  expect(await listed()).toEqual([later]);
  fixture.skip(5 * dayMs);
  expect((await owner.call('GET', `/v1/bookings/${later}`)).body.status).toBe('confirmed');
  expect(await listed()).toEqual([]);
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  expect(await waiting()).toMatchObject([{ id: later, title: expect.stringMatching(/\. The site is archived\.$/) }]);
});
