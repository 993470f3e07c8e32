/**
 * The widgets and the pages around them in Chromium: axe-core finds nothing, in each scheme and width.
 * `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type BookingFixture, createBookingFixture } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';
import { challengeEnv, forms } from '#test/forms/fixture.ts';
import { violationsOf } from './axe.ts';
import { type Browsing, openBrowsing } from './browsing.ts';

const palettes = [
  ['usual', null],
  ['yellow', { accent: '#ffd400', background: '#fffdf0' }],
  ['night', { accent: '#5b4bdb', background: '#1a1a2e' }],
  ['grey', { accent: '#777777', background: '#808080' }],
] as const;
type Palette = (typeof palettes)[number][0];
const intake = [
  { name: 'made', label: 'Have you made pots?', kind: 'radio', required: true, options: ['Never', 'A few times'] },
  { name: 'wishes', label: 'Wishes', kind: 'textarea' },
];
const fields = [
  { name: 'name', label: 'Name', kind: 'text', required: true },
  { name: 'email', label: 'E-mail address', kind: 'email', required: true },
  { name: 'topic', label: 'Topic', kind: 'select', options: ['A class', 'Something else'] },
  { name: 'day', label: 'Which day?', kind: 'radio', options: ['Tuesday', 'Friday'], required: true },
  { name: 'also', label: 'Also', kind: 'checkboxes', options: ['Clay', 'Glaze'], required: true },
  { name: 'consent', label: 'You may call me', kind: 'checkbox', required: true },
  { name: 'text', label: 'Message', kind: 'textarea' },
];
const fallback = 'Call us: 030 1234\nMonday to Friday';
/** Axe and pictures at two widths and in three schemes, in two or three states. */
const slow = { timeout: 60_000 };
let fixture: BookingFixture;
let browsing: Browsing;

beforeAll(async () => {
  browsing = await openBrowsing();
  fixture = await createBookingFixture({ ...challengeEnv, FRONTAGE_EDGE_URL: browsing.edgeUrl });
});
afterAll(async () => {
  await browsing?.close();
  await fixture?.close();
});

async function newBookable(colors: object | null = null) {
  const service = { name: 'Evening at the wheel', place: 'Mill Lane 3', seats_max: 3, intake };
  const made = await fixture.newBookable(timetable({ calendar: { capacity: 4 }, service, fallback }));
  await made.owner.call('PATCH', `/v1/sites/${made.site.id}`, { body: { title: 'The pottery', colors } });
  return made;
}

const schemes = [
  ['forced', { colorScheme: 'dark', forcedColors: 'active' }],
  ['dark', { colorScheme: 'dark', forcedColors: 'none' }],
  ['light', { colorScheme: 'light', forcedColors: 'none' }],
] as const;

/** Checks the page in each scheme: with the usual colours at both widths, with others, which change no size, at one. */
async function check(page: Page, name: string, palette: Palette = 'usual') {
  for (const width of palette === 'usual' ? [390, 1280] : [390]) {
    await page.setViewportSize({ width, height: 900 });
    // The system's colours hide those of a page, so two palettes are enough there.
    for (const [scheme, media] of palette === 'night' || palette === 'grey' ? schemes.slice(1) : schemes) {
      await page.emulateMedia(media);
      await browsing.keep(page, `${name}-${palette}-${scheme}-${width}`);
      expect(await page.evaluate('document.documentElement.scrollWidth <= innerWidth')).toBe(true);
      expect([name, scheme, width, ...(await violationsOf(page))]).toEqual([name, scheme, width]);
    }
  }
}

async function chooseTime(page: Page) {
  await page.locator('.days label').first().click();
  await page.locator('.times label').first().click();
}

async function sendBooking(page: Page) {
  await page.getByLabel('Your name').fill('Ada');
  await page.getByLabel('E-mail address').fill('ada@example.org');
  await page.getByLabel('Never').check();
  await page.getByRole('button', { name: 'Book', exact: true }).click();
  await page.getByRole('heading', { name: 'Your booking is confirmed' }).waitFor();
}

async function fillForm(page: Page) {
  await page.getByLabel('Name').fill('Ada');
  await page.getByRole('textbox', { name: 'E-mail address' }).fill('ada@example.org');
  for (const box of ['Friday', 'Clay', 'You may call me']) await page.getByLabel(box).check();
}

test.each(palettes)('the booking page has no violations (%s)', slow, async (palette, colors) => {
  const { publicId } = await newBookable(colors);
  const page = await browsing.visit(fixture, `/b/${publicId}`);
  await chooseTime(page);
  await check(page, 'booking-page', palette);
  await sendBooking(page);
  await check(page, 'booking-page-done', palette);
  await page.context().close();
});

test('the booking widget on a site has no violations', slow, async () => {
  const { publicId, site } = await newBookable();
  const inside = `<script type="module" src="${fixture.url}/b/widget.js"></script><frontage-booking site="${publicId}"></frontage-booking>`;
  const page = await browsing.open(site.name, inside);
  await chooseTime(page);
  await check(page, 'booking-widget');
  await sendBooking(page);
  await check(page, 'booking-widget-done');
  await page.context().close();
});

test('the form widget has no violations, nor have its errors and thanks', slow, async () => {
  const ask = forms(fixture);
  const form = await ask.newForm(await fixture.newCaller(), { fields });
  const inside = `<frontage-form form="${form.id}"></frontage-form><script type="module" src="${fixture.url}/f/widget.js"></script>`;
  const page = await browsing.open(form.site.name, inside);
  await page.getByLabel('Message').waitFor();
  await check(page, 'form-widget');
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Please check these fields:').waitFor();
  await check(page, 'form-widget-errors');
  await fillForm(page);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByText('Thank you. Your message has been sent.').waitFor();
  await check(page, 'form-widget-thanks');
  await page.context().close();
});

test.each(palettes)('the page of a form has no violations (%s)', slow, async (palette, colors) => {
  const ask = forms(fixture);
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { fields, fallback });
  await owner.call('PATCH', `/v1/sites/${form.site.id}`, { body: { title: 'The pottery', colors } });
  const page = await browsing.visit(fixture, `/f/${form.id}`);
  await page.locator('altcha-widget').waitFor();
  await check(page, 'form-page', palette);
  await page.evaluate(`document.querySelector('form').noValidate = true`);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('alert').waitFor();
  await check(page, 'form-page-errors', palette);
  await fillForm(page);
  await page.getByRole('button', { name: 'Send' }).click();
  await page.getByRole('heading', { name: 'Thank you' }).waitFor();
  await check(page, 'form-page-thanks', palette);
  await page.context().close();
});

test('a visitor books on the page at the platform’s own address', async () => {
  const { owner, site, publicId } = await newBookable();
  const page = await browsing.visit(fixture, `/b/${publicId}`);
  const refused: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error') refused.push(message.text());
  });
  await chooseTime(page);
  await sendBooking(page);
  expect((await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body.items).toHaveLength(1);
  expect(refused).toEqual([]);
  await page.context().close();
});

test('without scripts both pages show the owner’s text, and what can be booked', async () => {
  const { publicId } = await newBookable();
  const booking = await browsing.visit(fixture, `/b/${publicId}`, { scripts: false });
  expect(await booking.locator('noscript p').isVisible()).toBe(true);
  for (const text of ['Call us: 030 1234', 'Evening at the wheel', '1 hour · free of charge'])
    expect(await booking.getByText(text).isVisible()).toBe(true);
  await browsing.keep(booking, 'booking-page-no-scripts');
  const form = await forms(fixture).newForm(await fixture.newCaller(), { fields, fallback });
  const page = await browsing.visit(fixture, `/f/${form.id}`, { scripts: false });
  expect(await page.locator('noscript p').last().textContent()).toContain('Call us: 030 1234');
  await browsing.keep(page, 'form-page-no-scripts');
  const other = await fixture.newBookable();
  const plain = await browsing.visit(fixture, `/b/${other.publicId}`, { scripts: false });
  expect(await plain.getByText('The website shows how to reach its owner').isVisible()).toBe(true);
  for (const one of [booking, page, plain]) await one.context().close();
});

test('the errors of a form are a focused list with links to fields', async () => {
  const ask = forms(fixture);
  const owner = await fixture.newCaller();
  const form = await ask.newForm(owner, { fields });
  const inside = `<frontage-form form="${form.id}"></frontage-form><script type="module" src="${fixture.url}/f/widget.js"></script>`;
  const page = await browsing.open(form.site.name, inside);
  await page.getByLabel('Name').fill('Ada');
  await page.keyboard.press('Enter');
  const list = page.getByRole('group', { name: 'Please check these fields:' });
  await list.waitFor();
  expect(await list.evaluate((element) => element.matches(':focus'))).toBe(true);
  const texts = await list.getByRole('link').allTextContents();
  expect(texts.map((text) => /^[^:?]+/.exec(text)?.[0])).toEqual(['E-mail address', 'Which day', 'You may call me']);
  await page.keyboard.press('Tab');
  await page.keyboard.press('Enter');
  const email = page.getByRole('textbox', { name: 'E-mail address' });
  expect(await email.evaluate((element) => element.matches(':focus'))).toBe(true);
  expect(await email.getAttribute('aria-invalid')).toBe('true');
  expect(texts[0]).toContain(await page.locator('.error').first().textContent());
  await page.keyboard.type('ada@example.org');
  await page.getByLabel('Friday').focus();
  await page.keyboard.press('Space');
  await page.getByLabel('You may call me').focus();
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  // Only the server knows that one of the boxes is needed.
  await list.getByRole('link', { name: 'Also: please fill this in.' }).click();
  expect(await page.getByLabel('Clay').evaluate((element) => element.matches(':focus'))).toBe(true);
  expect(await page.locator('.error').allTextContents()).toEqual(['please fill this in.']);
  await page.keyboard.press('Space');
  await page.keyboard.press('Enter');
  await page.getByText('Thank you. Your message has been sent.').waitFor();
  expect((await ask.submissions(owner, form.id)).body.items).toMatchObject([
    { fields: { name: 'Ada', also: ['Clay'] } },
  ]);
  await page.context().close();
});
