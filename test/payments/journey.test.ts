/**
 * A visitor books on a site, pays, hears that the booking was moved, moves it again, cancels and gets the money back, in a real browser with the
 * keyboard alone. Each of our pages passes axe, also in forced colours.
 * `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { timetable } from '#test/bookings/timetable.ts';
import { until } from '#test/stack/until.ts';
import { type Chrome, inspect, type Look, look, looks, openChrome } from '#test/web/looks.ts';
import { attachAccount } from './fixture.ts';
import { createMailedFixture, type MailedFixture } from './mailed-fixture.ts';

const pages = new Map<string, string>();
/** Stands in for the edge: what is shown here is what a page of that site does. */
const sites = createServer((request, response) => {
  const page = pages.get(request.headers.host?.split('.')[0] ?? '');
  response.writeHead(page ? 200 : 404, { 'content-type': 'text/html; charset=utf-8' }).end(page);
});
let fixture: MailedFixture;
let chrome: Chrome;

beforeAll(async () => {
  await new Promise<void>((ready) => sites.listen(0, '127.0.0.1', ready));
  fixture = await createMailedFixture({
    FRONTAGE_BASE_URL: 'http://desk.localhost',
    FRONTAGE_EDGE_URL: 'http://localhost',
  });
  const api = new URL(fixture.url).port;
  const { port } = sites.address() as AddressInfo;
  chrome = await openChrome(`MAP desk.localhost 127.0.0.1:${api},MAP *.sites.localhost 127.0.0.1:${port}`);
}, 60_000);
afterAll(async () => {
  await chrome?.close();
  await fixture?.close();
  sites.close();
});

const shell = (publicId: string) => `<!doctype html><html lang="en"><meta charset="utf-8">
<meta name="viewport" content="width=device-width"><title>The pottery</title>
<style>:root{color-scheme:light dark}body{font-family:Georgia,serif;margin:0;padding:1.5rem;max-width:60rem}</style>
<main><h1>The pottery</h1><script type="module" src="http://desk.localhost/b/widget.js"></script>
<frontage-booking site="${publicId}"></frontage-booking></main>`;

/** A site of an owner, whose evenings cost money. */
async function newPottery() {
  const service = { name: 'Evening at the wheel', price: { amount: 2500, currency: 'EUR' }, hold_minutes: 15 };
  const made = await fixture.newBookable(timetable({ service, calendar: { name: 'The studio' } }));
  await made.owner.call('PATCH', `/v1/sites/${made.site.id}`, { body: { title: 'The pottery' } });
  await attachAccount(fixture, made.owner, made.site.id);
  pages.set(made.site.name, shell(made.publicId));
  return { ...made, home: `http://${made.site.name}.sites.localhost/` };
}

/** Tabs on until the element has the focus, as somebody without a mouse does. */
async function tabTo(page: Page, role: 'button' | 'link' | 'textbox' | 'checkbox', name: string): Promise<void> {
  const there = page.getByRole(role, { name, exact: true });
  await there.waitFor();
  for (let tabs = 0; tabs < 60; tabs++) {
    await page.keyboard.press('Tab');
    if (await there.evaluate((element) => element.matches(':focus'))) return;
  }
  throw new Error(`the keyboard does not reach “${name}”`);
}

/** Chooses the first day and time, asks to be told of changes, and goes on to the payment. */
async function book(page: Page, email: string): Promise<void> {
  await page
    .getByRole('radio', { name: /times available/ })
    .first()
    .focus();
  await page.keyboard.press('Space');
  const times = page.getByRole('group', { name: 'Time' });
  await times.getByRole('radio').first().waitFor();
  await page.keyboard.press('Tab');
  await page.keyboard.press('Space');
  await page.keyboard.press('Tab');
  await page.keyboard.type('Ada Visitor');
  await page.keyboard.press('Tab');
  await page.keyboard.type(email);
  await tabTo(page, 'checkbox', 'E-mail me if this booking changes or is cancelled');
  await page.keyboard.press('Space');
  await tabTo(page, 'button', 'Continue to payment · €25.00');
}

const heading = (page: Page, name: string) => page.getByRole('heading', { level: 1, name, exact: true }).waitFor();
const linkIn = (text: string) => /http\S+\/cancel\/\S+/.exec(text)?.[0] ?? '';

/** Chooses the second time of the first day, with the keyboard. Returns the new start. */
async function moveBooking(page: Page, shown: Look): Promise<string> {
  await tabTo(page, 'link', 'Choose another time');
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/move\//);
  await inspect(page, 'journey-8-days', shown);
  await page.locator('a[href^="?date="]').first().focus();
  await page.keyboard.press('Enter');
  await page.waitForURL(/\?date=/);
  const second = page.getByRole('radio').nth(1);
  const start = await second.getAttribute('value');
  await second.focus();
  await page.keyboard.press('Space');
  await inspect(page, 'journey-9-times', shown);
  await tabTo(page, 'button', 'Move the booking');
  await page.keyboard.press('Enter');
  await heading(page, 'Your booking has a new time');
  await inspect(page, 'journey-10-moved', shown);
  return start ?? '';
}

test.each(looks)(
  'a visitor books, pays, moves, cancels and is refunded, $width px',
  {
    timeout: 120_000,
  },
  async (shown) => {
    const { owner, site, home } = await newPottery();
    const email = `ada-${shown.width}@example.org`;
    const page = await chrome.newPage(shown, { timezoneId: 'Europe/Berlin', locale: 'en-GB' });
    page.on('pageerror', (error) => {
      throw error;
    });
    await page.goto(home);
    await book(page, email);
    await look(page, 'journey-1-site', shown);
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: /^Pay/ }).waitFor();
    await inspect(page, 'journey-2-held', shown);
    await tabTo(page, 'link', (await page.locator('a.send').textContent()) ?? '');
    await page.keyboard.press('Enter');

    await heading(page, '€25.00');
    expect(page.url()).toContain(fixture.stub.url);
    await look(page, 'journey-3-provider', shown);
    await tabTo(page, 'textbox', 'E-mail');
    await page.keyboard.type(email);
    await tabTo(page, 'button', 'Pay €25.00');
    await page.keyboard.press('Enter');

    await heading(page, 'Paid and booked');
    const [booking] = (await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items;
    expect(booking).toMatchObject({ status: 'confirmed', visitor: { name: 'Ada Visitor' } });
    await page.getByText(booking.reference).waitFor();
    await inspect(page, 'journey-4-paid', shown);
    await tabTo(page, 'link', `Back to ${new URL(home).host}`);
    await page.keyboard.press('Enter');
    await page.waitForURL(home);

    const receipt = await fixture.received(email, /: Booked for /);
    for (const part of ['€25.00', booking.reference, 'Evening at the wheel']) expect(receipt.text).toContain(part);
    const mail = await chrome.newPage(shown, { javaScriptEnabled: false });
    await mail.setContent(receipt.html);
    await look(mail, 'journey-5-receipt', shown);

    const start = new Date(Date.parse(booking.start) + 24 * 3600_000).toISOString();
    const moved = await owner.call('POST', `/v1/bookings/${booking.id}/move`, { body: { start } });
    expect(moved.body).toMatchObject({ status: 'confirmed', mail: 'queued' });
    const told = await fixture.received(email, /: New time: /);
    await mail.setContent(told.html);
    await look(mail, 'journey-6-moved-mail', shown);
    expect(linkIn(told.text)).toBe(linkIn(receipt.text));
    await page.goto(linkIn(told.text));
    await heading(page, 'Cancel this booking?');
    expect(await page.locator('time').getAttribute('datetime')).toBe(start);
    await inspect(page, 'journey-7-moved', shown);
    const cancelLink = page.url();
    const chosen = await moveBooking(page, shown);
    const { body: again } = await owner.call('GET', `/v1/bookings/${booking.id}`);
    expect([Date.parse(again.start), again.status]).toEqual([Date.parse(chosen), 'confirmed']);
    await page.goto(cancelLink);
    await heading(page, 'Cancel this booking?');

    await tabTo(page, 'button', 'Cancel the booking');
    await page.keyboard.press('Enter');
    await heading(page, 'Your booking is cancelled');
    await page.getByText('Your payment is being refunded, which can take a few days.').waitFor();
    await inspect(page, 'journey-11-cancelled', shown);
    const { statusOf } = fixture.reading(owner, booking.payment_id);
    await until(statusOf, (status) => status === 'refunded');
    expect(fixture.chargesOf(booking.payment_id)).toMatchObject([{ amount: 2500, amount_refunded: 2500 }]);
    const cancelled = await fixture.received(email, /: Cancelled: /);
    expect(cancelled.text).toContain('€25.00');
    await mail.setContent(cancelled.html);
    await look(mail, 'journey-12-cancelled-mail', shown);
    await page.goto(`http://desk.localhost/pay/${booking.payment_id}`);
    await heading(page, 'Payment refunded');
    await inspect(page, 'journey-13-refunded', shown);
    await page.context().close();
    await mail.context().close();
  },
);
