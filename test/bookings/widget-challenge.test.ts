/**
 * The challenge of a busy site in the booking widget, in a real browser.
 * @module-tag chromium
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { challengeEnv } from '#test/forms/fixture.ts';
import { type Browsing, openBrowsing } from '#test/web/browsing.ts';
import { type BookingFixture, createBookingFixture } from './fixture.ts';

/** An external verifier, whose script draws a box to tick. */
const verifier = createServer((request, answer) => {
  if (request.method === 'POST') return void answer.end(JSON.stringify({ success: true }));
  answer.setHeader('content-type', 'text/javascript').end(`globalThis.turnstile = {
  render(place, { callback }) {
    place.innerHTML = '<label><input type=checkbox> I am a person</label>';
    place.querySelector('input').onchange = () => callback('a token');
  },
};`);
});
let browsing: Browsing;
beforeAll(async () => {
  browsing = await openBrowsing();
  await new Promise<void>((ready) => verifier.listen(0, '127.0.0.1', ready));
});
afterAll(async () => {
  await browsing?.close();
  verifier.close();
});

/** Opens the widget of a site that is busy, fills it in and sends it. Returns how to see what became of it. */
async function sent(fixture: BookingFixture) {
  const { site, publicId, owner } = await fixture.newBookable();
  const [slot] = await fixture.slots(publicId, fixture.dateIn(20));
  const visitor = { name: 'First', email: 'first@example.org' };
  expect((await fixture.book(publicId, slot?.start ?? '', { visitor })).status).toBe(200);
  const inside = `<script type="module" src="${fixture.url}/b/widget.js"></script><frontage-booking site="${publicId}"></frontage-booking>`;
  const page = await browsing.open(site.name, inside, { lang: 'en' });
  const days = page.getByRole('radio', { name: /times? available/ });
  await days.first().check({ force: true });
  await page.getByRole('group', { name: 'Time' }).getByRole('radio').first().check({ force: true });
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('E-mail address').fill('ada@example.org');
  await page.getByRole('button', { name: 'Book', exact: true }).click();
  const booked = async () => {
    await page.getByRole('status').filter({ hasText: 'Your booking is confirmed' }).waitFor();
    return (await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items.length;
  };
  return { page, booked };
}

test.each([
  ['our own', {}],
  ['an external', { FRONTAGE_CHALLENGE: 'turnstile', FRONTAGE_CHALLENGE_SITE_KEY: 'public key' }],
] as const)('a booking of a busy site solves the challenge of %s verifier', async (which, env) => {
  const fixture = await createBookingFixture({
    ...challengeEnv,
    ...env,
    FRONTAGE_CHALLENGE_URL: `http://127.0.0.1:${(verifier.address() as AddressInfo).port}`,
    FRONTAGE_EDGE_URL: browsing.edgeUrl,
    // One booking a minute makes a site busy.
    FRONTAGE_RATE_SCALE: '0.1',
  });
  try {
    const { page, booked } = await sent(fixture);
    if (which === 'an external') await page.getByLabel('I am a person').check();
    expect(await booked()).toBe(2);
    await page.context().close();
  } finally {
    await fixture.close();
  }
});
