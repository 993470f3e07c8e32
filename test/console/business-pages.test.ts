/**
 * The console's pages of a business and its account in Chromium. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Caller } from '#test/api/fixture.ts';
import { violationsOf } from '#test/web/axe.ts';
import { type Look, look, openLight } from '#test/web/looks.ts';
import { openPottery, type Pottery } from './pottery.ts';

let pottery: Pottery;
let owner: Caller;
let paths: string[];
beforeAll(async () => {
  pottery = await openPottery();
  ({ owner, paths } = await newPaths());
}, 60_000);
afterAll(() => pottery?.close());

const account = '/account';
/** Of a site with everything on it, of its owner's account, and of a site with nothing. */
async function newPaths() {
  const { owner, site, payment, open, booking, form } = await pottery.newBusiness();
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
    owner,
    paths: [
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

type Way = Required<Look> & { forcedColors: 'active' | 'none' };
const light: Way = { width: 390, colorScheme: 'light', forcedColors: 'none' };
const schemes: Way[] = [light, { ...light, colorScheme: 'dark' }, { ...light, forcedColors: 'active' }];

/** Each page is opened once. axe looks at one of two pages at a phone's width, and at the others on a desk; campaigns look at all on both. */
test('pages of a business have no violations, and fit a phone', { timeout: 300_000 }, async () => {
  const page = await pottery.visit(owner, light);
  for (const [at, path] of paths.entries()) {
    await see(page, light);
    expect([path, await openLight(page, `http://desk.localhost${path}`)]).toEqual([path, 200]);
    const [width, other] = at % 2 === 0 ? [390, 1280] : [1280, 390];
    for (const way of schemes) await check(page, path, { ...way, width });
    await see(page, { ...light, width: other });
    await look(page, pictureOf(path), { width: other, colorScheme: 'light' });
  }
  await page.context().close();
});

test('a site’s tabs are behind the name of the current one on a phone', { timeout: 60_000 }, async () => {
  const page = await pottery.visit(owner, light);
  const base = paths[0]?.replace('/messages', '') ?? '';
  for (const [path, name] of [
    ['', 'Overview'],
    ['/bookings', 'Bookings'],
    ['/settings', 'Settings'],
  ] as const) {
    await page.goto(`http://desk.localhost${base}${path}`);
    expect(await page.locator('.tabs a:visible').allTextContents()).toEqual(['All sites', expect.any(String)]);
    const menu = page.locator('.tab-menu summary');
    expect(await menu.textContent()).toBe(`Pages of this site: ${name}`);
    await menu.click();
    expect(await page.locator('.tabs [aria-current]:visible').textContent()).toBe(name);
    expect(await page.locator('.tab-menu a:visible').count()).toBe(10);
  }
  await see(page, { ...light, width: 1280 });
  expect(await page.locator('.tab-menu').isVisible()).toBe(false);
  const boxes = await Promise.all((await page.locator('.tabs > ul a').all()).map((link) => link.boundingBox()));
  expect([boxes.length, new Set(boxes.map((box) => box?.y)).size]).toEqual([10, 1]);
  await page.context().close();
});

async function see(page: Page, { width, colorScheme, forcedColors }: Way): Promise<void> {
  await page.setViewportSize({ width, height: 900 });
  await page.emulateMedia({ colorScheme, forcedColors });
}

const pictureOf = (path: string) =>
  path
    .split('?', 1)[0]
    ?.slice(9)
    .replaceAll('/', '-')
    .replaceAll(/[a-z]+_[0-9a-z]{26}/g, 'one') ?? '';

async function check(page: Page, path: string, way: Way): Promise<void> {
  await see(page, way);
  await look(page, way.forcedColors === 'active' ? `${pictureOf(path)}-forced` : pictureOf(path), way);
  expect([path, way, ...(await violationsOf(page, page, true))]).toEqual([path, way]);
}
