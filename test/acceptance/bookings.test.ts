/** From an owner's timetable to a visitor's mail: a seat booked in a browser, and cancelled by the mailed link. */
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { daily } from '#test/bookings/timetable.ts';
import { useStack } from '#test/stack/stack.ts';
import { launchChromium } from '#test/web/chromium.ts';
import { movement } from '#test/web/looks.ts';
import { change, clone, expectPage, newSite, post, publish } from './story.ts';

const stack = useStack();
type Mail = {
  subject: string;
  text: string;
  headers: Record<string, string>;
  attachments: { filename: string; text: string }[];
};

/** A picture for whoever looks at the pages: `FRONTAGE_PICTURES=<folder>`. */
const keep = async (page: Page, name: string) => {
  const folder = process.env.FRONTAGE_PICTURES;
  if (folder) await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
};

const look = async (page: Page, name: string) => {
  if (!process.env.FRONTAGE_PICTURES) return;
  await page.getByRole('radio').or(page.getByLabel('Your name')).first().waitFor();
  for (const colorScheme of ['light', 'dark'] as const)
    for (const width of [1280, 390]) {
      await page.emulateMedia({ colorScheme });
      await page.setViewportSize({ width, height: 844 });
      await keep(page, `${name}-${colorScheme}-${width}`);
    }
  await page.emulateMedia({ colorScheme: 'light' });
};

/** The newest mail to the address whose subject contains this. */
async function mailTo(address: string, subject: string): Promise<Mail> {
  let found: Mail | undefined;
  const look = async () => {
    const answer = await fetch(`${stack.mailUrl}/messages?to=${encodeURIComponent(address)}`);
    const { items } = (await answer.json()) as { items: Mail[] };
    found = items.find((mail) => mail.subject.includes(subject));
    return found !== undefined;
  };
  await expect.poll(look, { timeout: 60_000, interval: 100 }).toBe(true);
  return found as unknown as Mail;
}

test('a visitor books a seat, receives both mails, and cancels with the link', { tags: 'chromium' }, async () => {
  const site = await newSite('business');
  const git = await clone(site, 'source');
  const facts = JSON.parse(await git('show', 'HEAD:src/site.json'));
  await post(`/v1/sites/${site.id}/bookable`, {
    calendars: [{ key: 'studio', name: 'The studio', capacity: 3, time_zone: 'Europe/Lisbon', hours: daily }],
    services: [
      { key: 'wheel', name: 'An hour at the wheel', duration_minutes: 60, calendar_keys: ['studio'], lead_minutes: 60 },
    ],
  });
  const fields = [{ name: 'name', label: 'Your name', kind: 'text', required: true }];
  const { body: form } = await post(`/v1/sites/${site.id}/forms`, { name: 'Contact', fields });
  await change(
    site,
    'src/site.json',
    JSON.stringify({ ...facts, form: form.action_url, bookings: { ...facts.bookings, open: true } }),
  );
  expect((await publish(site)).body.status).toBe('live');
  await expectPage(site, '/book/', 'frontage-booking');

  const email = `visitor-${process.pid}@example.org`;
  const browser = await launchChromium();
  try {
    const page = await browser.newPage({ viewport: { width: 390, height: 844 } });
    const { port } = new URL(stack.edgeUrl);
    await page.goto(`http://${site.name}.${stack.baseDomain}:${port}/book/`);
    const day = page.getByRole('radio', { name: /times available/ }).first();
    await day.waitFor();
    await page.evaluate('document.fonts.ready.then(() => true)');
    expect(await page.evaluate(movement)).toBeLessThan(0.05);
    await look(page, 'book');
    await day.check({ force: true });
    await page.getByRole('group', { name: 'Time' }).getByRole('radio').first().check({ force: true });
    await look(page, 'book-times');
    await page.getByLabel('Your name').fill('Ada Visitor');
    await page.getByLabel('E-mail address').fill(email);
    await page.getByRole('button', { name: 'Book', exact: true }).click();
    await page.getByRole('status').filter({ hasText: 'Your booking is confirmed' }).waitFor();

    const { body: list } = await stack.api(`/v1/sites/${site.id}/bookings`);
    expect(list.items).toHaveLength(1);
    const [booking] = list.items;
    expect(booking).toMatchObject({ status: 'confirmed', service: 'wheel', visitor: { name: 'Ada Visitor' } });
    const mail = await mailTo(email, ': Booked for ');
    expect(mail.attachments[0]?.text).toContain(`UID:${booking.id}@`);
    const told = await mailTo(stack.owner.email, 'New booking: An hour at the wheel');
    expect(told.headers['reply-to']).toBe(email);

    // The contact page of the same starter, with the form that its facts name.
    await page.goto(`http://${site.name}.${stack.baseDomain}:${port}/contact/`);
    await page.getByLabel('Your name').fill('Ada Writer');
    await look(page, 'contact');
    await page.getByRole('button', { name: 'Send' }).click();
    await page.getByText('Thank you. Your message has been sent.').waitFor();
    expect((await stack.api(`/v1/forms/${form.id}/submissions`)).body.items).toMatchObject([
      { fields: { name: 'Ada Writer' }, page: '/contact/' },
    ]);

    await page.goto(/http\S+\/cancel\/\S+/.exec(mail.text)?.[0] ?? '');
    await keep(page, 'cancel-390');
    await page.setViewportSize({ width: 1280, height: 800 });
    await keep(page, 'cancel-1280');
    await page.getByRole('button', { name: 'Cancel the booking' }).click();
    await page.getByRole('heading', { name: 'Your booking is cancelled' }).waitFor();
    await keep(page, 'cancelled-1280');
    expect((await stack.api(`/v1/bookings/${booking.id}`)).body.status).toBe('cancelled');
    await mailTo(stack.owner.email, 'Cancelled: An hour at the wheel');
  } finally {
    await browser.close();
  }
});
