/**
 * The console's pages of a business and its account in Chromium. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from '#test/web/axe.ts';
import { look, openLight } from '#test/web/looks.ts';
import { openPottery, type Pottery } from './pottery.ts';

let pottery: Pottery;
beforeAll(async () => {
  pottery = await openPottery();
}, 60_000);
afterAll(() => pottery?.close());

const account = '/account';
/** Of a site with everything on it, of its owner's account, and of a site with nothing. */
async function paths() {
  const business = await pottery.newBusiness();
  const { owner, site, payment, open, booking, form } = business;
  const { body } = await owner.call('GET', `/v1/forms/${form.id}/submissions`);
  const { body: tokens } = await owner.call('GET', '/v1/tokens');
  const message = `/messages/${body.items[1].id}`;
  const empty = await pottery.newSite(owner);
  await pottery.deps.em().execute(
    `insert into view_hour (site_id, hour, writer, views, sketch, pages, referrers, countries, devices)
     select ?, date_trunc('hour', ?::timestamptz) - n * interval '1 hour', 'test', n % 7, '', '{}', '{}', '{}', '{}' from generate_series(0, 120) as n`,
    [site.id, pottery.clock.now()],
  );
  const of = (id: string, rest: string[]) => rest.map((path) => `${account}/sites/${id}${path}`);
  return {
    business,
    all: [
      ...of(site.id, ['/messages', message, `${message}/delete`]),
      ...of(site.id, ['/bookings', '/bookings/list', '/bookings/block']),
      ...of(site.id, [`/bookings/new?what=talk+room&date=${pottery.dateIn(3)}`, `/bookings/${booking.id}`]),
      ...of(site.id, [`/bookings/${booking.id}/move?date=${pottery.dateIn(3)}`, `/bookings/${booking.id}/cancel`]),
      ...of(site.id, ['/payments', '/payments/new', `/payments/${payment.id}`, `/payments/${payment.id}/refund`]),
      ...of(site.id, [`/payments/${open.id}`, '/people', '/settings', '/visitors', '/comments', '/history']),
      ...of(empty.id, ['/messages', '/bookings', '/payments', '/domains', '/people', '/settings']),
      ...['/agents', '/agents/connect', '/agents/token', `/agents/${tokens.items[0].id}/revoke`].map(
        (path) => account + path,
      ),
      ...['', '/payouts', '/payouts/new', '/settings'].map((path) => account + path),
    ],
  };
}

const schemes = [
  ['light', { colorScheme: 'light' }],
  ['dark', { colorScheme: 'dark' }],
  ['forced', { colorScheme: 'dark', forcedColors: 'active' }],
] as const;

test.each(schemes)(
  'pages of a business have no violations, and fit a phone (%s)',
  async (name, scheme) => {
    const { business, all } = await paths();
    const page = await pottery.visit(business.owner, { width: 390, colorScheme: scheme.colorScheme }, scheme);
    for (const path of all) {
      expect([path, await openLight(page, `http://desk.localhost${path}`)]).toEqual([path, 200]);
      await check(page, path, { name, width: 390 });
      if (name === 'light') await check(page, path, { name, width: 1280 });
    }
    await page.context().close();
  },
  180_000,
);

async function check(page: Page, path: string, { name, width }: { name: string; width: number }): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  const picture =
    path
      .split('?', 1)[0]
      ?.slice(9)
      .replaceAll('/', '-')
      .replaceAll(/[a-z]+_[0-9a-z]{26}/g, 'one') ?? '';
  await look(page, `${picture}-${name}`, { width, colorScheme: 'light' });
  expect([path, width, ...(await violationsOf(page))]).toEqual([path, width]);
}
