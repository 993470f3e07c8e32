/** `notify_to` and `reply_to` of a timetable when the address behind them changes, and the change is undone. */
import { afterAll, expect, test } from 'vitest';
import { bookings } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const ask = bookings(fixture);

test('notices go to the old address again once the change of address is undone', async () => {
  const owner = await fixture.newCaller();
  const guest = await fixture.newSignedIn();
  const input = timetable({ calendar: { capacity: 9 } });
  const { site, publicId } = await ask.newBookable(input, owner);
  const { body: invited } = await ask.invite(owner, site.id, guest.email);
  expect((await guest.call('POST', `/v1/invitations/${invited.id}/accept`)).status).toBe(200);
  const path = `/v1/sites/${site.id}/bookable`;
  const addresses = { notify_to: guest.email, reply_to: guest.email };
  expect((await owner.call('POST', path, { body: { ...input, ...addresses } })).body).toMatchObject(addresses);
  const shown = async () => {
    const { notify_to, reply_to } = (await owner.call('GET', path)).body;
    return [notify_to, reply_to];
  };
  const start = (await ask.slots(publicId, ask.dateIn(5)))[0]?.start ?? '';
  const noticesTo = async (address: string) => {
    expect((await ask.book(publicId, start)).status).toBe(200);
    return (await fixture.lettersTo(address)).filter(({ kind }) => kind === 'booking-taken').length;
  };

  const next = fixture.newAddress();
  await guest.call('PATCH', '/v1/account', { body: { email: next } });
  await fixture.confirmChange(guest.email, next);
  expect(await shown()).toEqual([next, next]);
  expect(await noticesTo(next)).toBe(1);
  expect((await fixture.answerMail(guest.email, 'address-change', 'Undo the change')).text).toContain('undone');
  expect(await shown()).toEqual([guest.email, guest.email]);
  expect([await noticesTo(guest.email), await noticesTo(next)]).toEqual([1, 1]);
});
