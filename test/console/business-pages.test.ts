/**
 * The console's pages of a business in Chromium. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { violationsOf } from '#test/web/axe.ts';
import { look, looks } from '#test/web/looks.ts';
import { openPottery, type Pottery } from './pottery.ts';

let pottery: Pottery;
let business: Awaited<ReturnType<Pottery['newBusiness']>>;
beforeAll(async () => {
  pottery = await openPottery();
  business = await pottery.newBusiness();
}, 60_000);
afterAll(() => pottery?.close());

test.each(looks)(
  'pages of a business have no violations, $width px, $colorScheme',
  async (shown) => {
    const { owner, site, payment, open, booking, form } = business;
    const { body } = await owner.call('GET', `/v1/forms/${form.id}/submissions`);
    const page = await pottery.visit(owner, shown);
    const message = `/messages/${body.items[1].id}`;
    const paths = [
      '/messages',
      message,
      `${message}/delete`,
      '/bookings',
      '/bookings/list',
      '/bookings/new',
      '/bookings/block',
      `/bookings/${booking.id}`,
      `/bookings/${booking.id}/move`,
      `/bookings/${booking.id}/cancel`,
      '/payments',
      '/payments/new',
      `/payments/${payment.id}`,
      `/payments/${payment.id}/refund`,
      `/payments/${open.id}`,
      `/payments/${open.id}/close`,
      '/domains',
      '/people',
      '/people/leave',
      '/settings',
      '/settings/archive',
    ];
    for (const path of paths) {
      const answer = await page.goto(pottery.path(site.id, path));
      expect([path, answer?.status()]).toEqual([path, 200]);
      await look(
        page,
        path
          .slice(1)
          .replaceAll('/', '-')
          .replaceAll(/[a-z]+_[0-9a-z]{26}/g, 'one'),
        shown,
      );
      expect([path, ...(await violationsOf(page))]).toEqual([path]);
    }
    await page.context().close();
  },
  120_000,
);
