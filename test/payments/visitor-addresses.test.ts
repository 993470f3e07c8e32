/** The address of a visitor who wants to be told of changes and reminded, in every ending of the booking. */
import { expect, test } from 'vitest';
import { sweepHolds } from '#db/bookings/holds.ts';
import { sweepPreparedMails } from '#db/bookings/prepared-mails.ts';
import { removeSiteRows } from '#db/sites/purge.ts';
import { hourMs } from '#rules/time.ts';
import { newBrowser } from '#test/people/browser.ts';
import { until } from '#test/stack/until.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { heldIn, mailsWaiting } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

type Held = Awaited<ReturnType<typeof heldIn>>;
const em = () => fixture.deps.em();

/** Where the address is, besides in e-mails that are being sent. */
async function placesOf(id: string): Promise<string[]> {
  const rows = await em().execute<{ place: string }[]>(
    `select 'booking' as place from booking where id = ? and visitor_sealed is not null
     union all select 'prepared' from prepared_mail where booking_id = ?`,
    [id, id],
  );
  return rows.map(({ place }) => place);
}

const cancel = ({ owner, id }: Held) => owner.call('POST', `/v1/bookings/${id}/cancel`);

async function cancelByLink({ id }: Held) {
  const [{ data } = { data: {} }] = await mailsWaiting(fixture, 'booking-confirmed', id);
  const browser = newBrowser(fixture.url);
  const page = await browser.open(new URL((data as { cancelUrl: string }).cancelUrl).pathname);
  return await browser.press(page, 'Cancel the booking');
}

async function expire() {
  fixture.skip(2 * hourMs);
  await sweepHolds(em(), fixture.clock.now());
}

const endings: [what: string, place: 'booking' | 'prepared', end: (made: Held) => Promise<unknown>][] = [
  ['a hold expires', 'booking', expire],
  ['a hold is cancelled', 'booking', cancel],
  [
    'a hold’s link is closed',
    'booking',
    ({ owner, paymentId }) => owner.call('POST', `/v1/payments/${paymentId}/expire`),
  ],
  ['its site is archived', 'booking', ({ owner, site }) => owner.call('POST', `/v1/sites/${site.id}/archive`)],
  ['a paid booking is cancelled', 'prepared', cancel],
  ['its visitor cancels it', 'prepared', cancelByLink],
  ['a booking is over', 'prepared', ({ start }) => sweepPreparedMails(em(), new Date(Date.parse(start) + hourMs))],
  ['its site is purged', 'prepared', ({ site }) => removeSiteRows(em(), fixture.clock, site.id)],
];

test.each(endings)('the visitor’s address is destroyed when %s', async (_what, place, end) => {
  const made = await heldIn(fixture, { wishes: { notify_changes: true, remind: true } });
  if (place === 'prepared') {
    await fixture.press((await fixture.openLink(made.payUrl)).page);
    await until(made.statusOf, (status) => status === 'confirmed');
  }
  expect(await placesOf(made.id)).toEqual([place]);
  await end(made);
  expect(
    await until(
      () => placesOf(made.id),
      ({ length }) => length === 0,
    ),
  ).toEqual([]);
});
