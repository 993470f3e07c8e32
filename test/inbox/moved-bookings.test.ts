/** Bookings in the inbox, after somebody moved them. */
import { afterAll, expect, test } from 'vitest';
import type { Caller } from '#test/api/fixture.ts';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { clearInbox } from './fixture.ts';

const fixture = await createBookingFixture();
afterAll(() => fixture.close());

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
});
