/**
 * The console's pages of a business and its account in Chromium. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '#test/api/fixture.ts';
import { inspect, openLight } from '#test/web/looks.ts';
import { crawl, furnish, kindOf } from './crawl.ts';
import { openPottery, type Pottery } from './pottery.ts';
import { signedIn } from './session.ts';

let pottery: Pottery;
let owner: Caller;
/** Of each kind one, and those of a site with nothing. */
let paths: string[];
beforeAll(async () => {
  pottery = await openPottery();
  const business = await pottery.newBusiness();
  await furnish(pottery, business);
  ({ owner } = business);
  const pages = await crawl(await signedIn(pottery, owner.accountId), 1);
  const date = pottery.dateIn(3);
  const { site, booking, payment, open } = business;
  const of = (...rest: string[]) => rest.map((path) => `/account/sites/${site.id}/${path}`);
  const empty = await pottery.newSite(owner);
  const linked = pages.map(({ url }) => url);
  const more = [
    ...of(`bookings/new?what=talk+room&date=${date}`, `bookings/${booking.id}/move?date=${date}`),
    ...of(
      `payments/${payment.id}`,
      `payments/${payment.id}/refund`,
      `payments/${open.id}`,
      `payments/${open.id}/close`,
    ),
    ...of('settings/delete'),
    ...['messages', 'bookings', 'payments', 'domains', 'people', 'settings', 'comments', 'visitors'].map(
      (tab) => `/account/sites/${empty.id}/${tab}`,
    ),
  ];
  paths = [...new Set([...linked, ...more])];
}, 180_000);
afterAll(() => pottery?.close());

test.each(['light', 'dark'] as const)(
  'every page has no violations, is light, and fits a phone (%s)',
  async (colorScheme) => {
    const page = await pottery.visit(owner, { width: 390, colorScheme });
    expect(new Set(paths.map(kindOf)).size).toBeGreaterThan(44);
    for (const path of paths) {
      const href = `http://desk.localhost${path}`;
      await page.setViewportSize({ width: 390, height: 900 });
      const status = colorScheme === 'light' ? await openLight(page, href) : (await page.goto(href))?.status();
      expect([path, status]).toEqual([path, 200]);
      const picture = kindOf(path).slice(9).replaceAll('/', '-').replaceAll('*', 'one');
      for (const width of colorScheme === 'light' ? [390, 1280] : [390]) {
        await page.setViewportSize({ width, height: 900 });
        await inspect(page, picture, { width, colorScheme });
      }
    }
    await page.context().close();
  },
  180_000,
);
