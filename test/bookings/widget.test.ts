/**
 * The widget in a real browser, on a page of the site's own origin. `FRONTAGE_PICTURES=<folder>` saves screenshots.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { attachAccount, payingEnv } from '#test/payments/fixture.ts';
import { type Browsing, type Look, openBrowsing } from '#test/web/browsing.ts';
import { bookingWidget } from '#web/widgets/booking-widget.ts';
import { type BookingFixture, createBookingFixture, widgetIn } from './fixture.ts';
import { classes, timetable } from './timetable.ts';

let fixture: BookingFixture;
let browsing: Browsing;

beforeAll(async () => {
  browsing = await openBrowsing();
  fixture = await createBookingFixture({ FRONTAGE_EDGE_URL: browsing.edgeUrl, ...payingEnv(9) });
});
afterAll(async () => {
  await browsing?.close();
  await fixture?.close();
});

const opened = (publicId: string, name: string, look: Look = {}): Promise<Page> =>
  browsing.open(name, widgetIn(fixture.url, publicId), look);
const keep = (page: Page, name: string) => browsing.keep(page, name);

test('a visitor books with the keyboard alone, and screen readers announce it', async () => {
  const { owner, site, publicId } = await fixture.newBookable(classes());
  const page = await opened(publicId, site.name);
  const day = page.getByRole('radio', { name: /times available/ }).first();
  await day.waitFor();
  await day.focus();
  await page.keyboard.press('Space');
  const times = page.getByRole('group', { name: 'Time' });
  await times.getByRole('radio').first().waitFor();
  await keep(page, 'widget-390');
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('ArrowRight');
  expect(await times.getByRole('radio').nth(1).isChecked()).toBe(true);
  await page.keyboard.press('Tab');
  await page.keyboard.press('ArrowUp');
  for (const typed of ['Ada Visitor', 'ada@example.org']) {
    await page.keyboard.press('Tab');
    await page.keyboard.type(typed);
  }
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.type('A blue bowl');
  for (const label of ['E-mail me if this booking changes or is cancelled', 'Remind me the day before']) {
    await page.keyboard.press('Tab');
    const box = page.getByRole('checkbox', { name: label, exact: true });
    expect(await box.isChecked()).toBe(false);
    await page.keyboard.press('Space');
    expect(await box.isChecked()).toBe(true);
  }
  await page.keyboard.press('Tab');
  // The page's own names of colours are not ours.
  const colour = `getComputedStyle(document.querySelector('frontage-booking').shadowRoot.querySelector('.send')).backgroundColor`;
  expect(await page.evaluate(colour)).toBe('rgb(138, 59, 18)');
  await page.keyboard.press('Enter');
  const done = page.getByRole('status').filter({ hasText: 'Your booking is confirmed' });
  await done.waitFor();
  const focused = `document.querySelector('frontage-booking').shadowRoot.activeElement.className`;
  expect(await page.evaluate(focused)).toBe('done');
  await keep(page, 'widget-done-390');
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body;
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ seats: 2, visitor: { name: 'Ada Visitor' } });
  expect(items[0].intake).toEqual({ made: 'Never', wishes: 'A blue bowl' });
  expect(await done.textContent()).toContain(items[0].reference);
  await page.context().close();
});

async function fill(page: Page) {
  await page
    .getByRole('radio', { name: /times available/ })
    .first()
    .check({ force: true });
  await page.getByRole('group', { name: 'Time' }).getByRole('radio').first().check({ force: true });
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('E-mail address').fill('ada@example.org');
}

test('a time slot taken meanwhile is reported, and the free ones are shown again', async () => {
  const { site, publicId, owner } = await fixture.newBookable();
  const page = await opened(publicId, site.name, { width: 1280 });
  await fill(page);
  const chosen = (await page.locator('input[name=start]:checked').getAttribute('value')) ?? '';
  expect((await fixture.book(publicId, chosen)).status).toBe(200);
  await page.getByRole('button', { name: 'Book', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'That time has just been booked' }).waitFor();
  expect(await page.locator(`input[value="${chosen}"]`).count()).toBe(0);
  await keep(page, 'widget-taken-1280');
  await page.getByRole('group', { name: 'Time' }).getByRole('radio').first().check({ force: true });
  await page.getByRole('button', { name: 'Book', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Your booking is confirmed' }).waitFor();
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items).toHaveLength(2);
  await page.context().close();
});

test('who chooses another service keeps what they typed', async () => {
  const service = { duration_minutes: 60, calendar_keys: ['room'], horizon_days: 365 };
  const services = [
    { ...service, key: 'talk', name: 'A talk' },
    { ...service, key: 'walk', name: 'A walk' },
  ];
  const { site, publicId } = await fixture.newBookable(timetable({ services }));
  const page = await opened(publicId, site.name);
  await fill(page);
  await page.getByLabel('Remind me the day before').check();
  const daysOfWalk = page.waitForResponse(/\/days\?service=walk/);
  await page.getByLabel('What would you like to book?').selectOption({ label: 'A walk' });
  await (await daysOfWalk).finished();
  await page
    .getByRole('radio', { name: /times available/ })
    .first()
    .check({ force: true });
  await page.getByRole('group', { name: 'Time' }).getByRole('radio').first().waitFor();
  const typed = await Promise.all(['name', 'email'].map((name) => page.locator(`input[name=${name}]`).inputValue()));
  expect(typed).toEqual(['Ada', 'ada@example.org']);
  expect(await page.getByLabel('Remind me the day before').isChecked()).toBe(true);
  await page.context().close();
});

/** The first booking that the page sends is made, and its answer does not arrive. */
async function loseFirstAnswer(page: Page, publicId: string) {
  let lost = 0;
  await page.route(`${fixture.url}/b/${publicId}`, async (route) => {
    if (route.request().method() !== 'POST' || lost++ > 0) return await route.continue();
    await route.fetch();
    await route.abort();
  });
}

test('pressing the button again after a lost response makes the same booking', async () => {
  const { site, publicId, owner } = await fixture.newBookable();
  const page = await opened(publicId, site.name);
  await fill(page);
  await loseFirstAnswer(page, publicId);
  await page.getByRole('button', { name: 'Book', exact: true }).click();
  await page.getByRole('alert').filter({ hasText: 'could not be sent' }).waitFor();
  await page.getByRole('button', { name: 'Book', exact: true }).click();
  await page.getByRole('status').filter({ hasText: 'Your booking is confirmed' }).waitFor();
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items).toHaveLength(1);
  await page.context().close();
});

test('dates and words follow the page’s language, times follow the calendar’s zone', async () => {
  const { site, publicId } = await fixture.newBookable(timetable({ calendar: { time_zone: 'Asia/Tokyo' } }));
  const page = await opened(publicId, site.name, { lang: 'de', width: 1280, zone: 'America/New_York' });
  const day = page.getByRole('radio', { name: /freier? Termin/ }).nth(1);
  await day.check({ force: true });
  expect(await day.getAttribute('aria-label')).toMatch(
    /^(Mon|Diens|Mitt|Donners|Frei|Sams|Sonn)\S*, \d+\. \S+ 20\d\d, /,
  );
  await page.getByText('Groß: Zeitzone Asia/Tokyo. Klein: Zeitzone America/New York.').waitFor();
  const first = page.locator('input[name=start]').first();
  expect(await first.getAttribute('value')).toMatch(/T00:00:00\+09:00$/);
  const shown = () => first.evaluate((input) => input.nextElementSibling?.textContent);
  expect(await shown()).toMatch(/^00:00 Tokyo\S+, 10:00 New York$/);
  await first.check({ force: true });
  await page.getByRole('button', { name: 'Uhrzeiten zuerst in der Zeitzone America/New York zeigen' }).click();
  expect(await shown()).toMatch(/, 10:00 New York00:00 Tokyo$/);
  expect(await first.isChecked()).toBe(true);
  await keep(page, 'widget-de-1280');
  await page.context().close();
});

test('without bookings the page shows its fallback or nothing', async () => {
  const { owner, site, publicId } = await fixture.newBookable();
  await owner.call('DELETE', `/v1/sites/${site.id}/bookable?confirm=true`);
  const page = await opened(publicId, site.name);
  await page.locator('frontage-booking[hidden]').waitFor({ state: 'attached' });
  const other = await opened('0000000000000000', site.name);
  await other.waitForLoadState('networkidle');
  expect(await other.getByText('Call us: 030 1234.').isVisible()).toBe(true);
  await page.context().close();
  await other.context().close();
});

test('the widget is small, immutable under its hash, and revalidated under its name', async () => {
  expect(bookingWidget.gzip.length).toBeLessThan(30 * 1024);
  const named = await fetch(`${fixture.url}/b/widget.js`);
  expect(named.headers.get('cache-control')).toBe('no-cache');
  expect(named.headers.get('access-control-allow-origin')).toBe('*');
  expect(await named.text()).toBe(String(bookingWidget.bytes));
  const again = await fetch(`${fixture.url}/b/widget.js`, {
    headers: { 'if-none-match': named.headers.get('etag') ?? '' },
  });
  expect(again.status).toBe(304);
  const kept = await fetch(`${fixture.url}/b/widget-${bookingWidget.hash}.js`);
  expect([kept.status, kept.headers.get('cache-control')]).toEqual([200, 'public, max-age=31536000, immutable']);
});

test.each([
  // More than can be booked costs no more than that.
  { per: 'seat', text: '€30.00 per seat', totals: { 1: '€30.00', 3: '€90.00', 9: '€120.00', 2: '€60.00' }, paid: 6000 },
  { per: 'booking', text: '€30.00', totals: { 1: '€30.00', 3: '€30.00', 9: '€30.00', 2: '€30.00' }, paid: 3000 },
])('the total of several seats is shown before the button, priced per $per', async ({ per, text, totals, paid }) => {
  const service = { price: { amount: 3000, currency: 'EUR', per }, seats_max: 4 };
  const { owner, site, publicId } = await fixture.newBookable(timetable({ calendar: { capacity: 9 }, service }));
  await attachAccount(fixture, owner, site.id);
  const page = await opened(publicId, site.name);
  await fill(page);
  const button = (total: string) => page.getByRole('button', { name: `Continue to payment · ${total}`, exact: true });
  for (const [seats, total] of Object.entries(totals)) {
    await page.locator('input[name=seats]').fill(seats);
    await button(total).waitFor();
    expect(await page.locator('.summary').textContent()).toBe(`1 hour · ${text}Total: ${total}`);
  }
  await page.locator('input[name=seats]').fill('2');
  await button(totals[2]).click();
  await page.locator('a.send').waitFor();
  const [booking] = (await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items;
  expect(booking).toMatchObject({ seats: 2, price: { amount: paid, currency: 'EUR' } });
  await page.context().close();
});

test('a hold leads to the payment page, also if a lost one ended before', async () => {
  const service = { price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15 };
  const { owner, site, publicId } = await fixture.newBookable(timetable({ service }));
  await attachAccount(fixture, owner, site.id);
  const page = await opened(publicId, site.name);
  await page.locator('.days label').first().click();
  await page.locator('.times label').first().click();
  await page.locator('input[name=name]').fill('Ada');
  await page.locator('input[name=email]').fill('ada@example.org');
  expect(await page.locator('.summary').textContent()).toMatch(/^1 hour · €25.00Total: €25.00$/);
  await loseFirstAnswer(page, publicId);
  const button = page.getByRole('button', { name: 'Continue to payment · €25.00', exact: true });
  await button.click();
  await page.getByRole('alert').filter({ hasText: 'could not be sent' }).waitFor();
  await fixture.deps.em().execute('update booking set hold_expires_at = now() where site_id = ?', [site.id]);
  await button.click();
  const link = page.locator('a.send');
  await link.waitFor();
  await keep(page, 'held');
  const [booking, ended] = (await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items;
  expect(ended.status).toBe('expired');
  expect(booking).toMatchObject({ status: 'held', pay_url: await link.getAttribute('href') });
  expect(await page.locator('.done').textContent()).toContain('€25.00');
  await page.context().close();
});
