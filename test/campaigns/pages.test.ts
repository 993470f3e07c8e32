/**
 * Every page that people see, at both widths, in both schemes and in forced colours: axe-core finds nothing, also of
 * targets that are too small, and no page is wider than its window. `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callWith } from '#test/api/fixture.ts';
import { crawl, furnish, kindOf } from '#test/console/crawl.ts';
import { openPottery, type Pottery } from '#test/console/pottery.ts';
import { addSession, signedIn } from '#test/console/session.ts';
import { inspect, type Look, looks } from '#test/web/looks.ts';

const here = 'http://desk.localhost';
const visitor = 'grace@example.org';
const [phone] = looks as [Look];
let pottery: Pottery;
let business: Awaited<ReturnType<Pottery['newBusiness']>>;
beforeAll(async () => {
  pottery = await openPottery();
  business = await pottery.newBusiness();
  await furnish(pottery, business);
}, 180_000);
afterAll(() => pottery?.close());

/** What is wrong with the page. */
async function faultsOf(page: Page, name: string): Promise<string[]> {
  const faults: string[] = [];
  for (const shown of looks) {
    await page.setViewportSize({ width: shown.width, height: 900 });
    await inspect(page, name, shown).catch((error: Error) =>
      faults.push(`${name} at ${shown.width}: ${error.message}`),
    );
  }
  return faults;
}

async function faultsAt(page: Page, paths: Record<string, string>): Promise<string[]> {
  const faults: string[] = [];
  for (const [name, path] of Object.entries(paths)) {
    const status = (await page.goto(new URL(path, here).href))?.status();
    if (status !== 200) faults.push(`${name}: ${status}`);
    faults.push(...(await faultsOf(page, name)));
  }
  return faults;
}

/** The path of the link in the e-mail with this subject. */
async function linkIn(to: string, subject: RegExp, link = /http\S+/): Promise<string> {
  const { text } = await pottery.received(to, subject);
  return new URL(link.exec(text)?.[0] ?? '').pathname;
}

test('no page of the console breaks a rule', { timeout: 900_000 }, async () => {
  const { owner, site, booking, payment, open } = business;
  const linked = await crawl(await signedIn(pottery, owner.accountId), 1);
  const date = pottery.dateIn(3);
  const of = (id: string, ...rest: string[]) => rest.map((path) => `/account/sites/${id}/${path}`);
  const tabs = ['messages', 'bookings', 'payments', 'domains', 'people', 'settings', 'comments', 'visitors', 'history'];
  const empty = await pottery.newSite(owner);
  const more = [
    ...of(site.id, `bookings/new?what=talk+room&date=${date}`, `bookings/${booking.id}/move?date=${date}`),
    ...of(site.id, `payments/${payment.id}`, `payments/${payment.id}/refund`, `payments/${open.id}/close`),
    ...of(site.id, 'settings/delete'),
  ];
  const named = (paths: string[], kind: string) =>
    paths.map((path) => [`${kind}${kindOf(path).replaceAll('/', '-').replaceAll('*', 'one')}`, path] as const);
  const paths = Object.fromEntries([
    ...named([...linked.map(({ url }) => url), ...more], 'console'),
    ...named(of(empty.id, ...tabs), 'empty'),
  ]);
  expect(Object.keys(paths).length).toBeGreaterThan(50);
  const page = await pottery.visit(owner, phone);
  expect(await faultsAt(page, paths)).toEqual([]);
  await page.context().close();
});

test('no page that gives access breaks a rule', { timeout: 300_000 }, async () => {
  const { owner } = business;
  const anyone = callWith(pottery.url);
  const email = await pottery.emailOf(owner);
  const approval = await linkIn(email, /requesting access/);
  const { body: client } = await anyone('POST', '/oauth/register', {
    body: { client_name: 'Chat', redirect_uris: ['https://connector.example/callback'] },
  });
  const question = new URLSearchParams({
    response_type: 'code',
    client_id: client.client_id,
    redirect_uri: 'https://connector.example/callback',
    code_challenge: 'A'.repeat(43),
    code_challenge_method: 'S256',
    resource: `${pottery.config.baseUrl}/mcp`,
  });
  const [laptop, other] = [await pottery.visit(await pottery.newCaller(), phone), await pottery.visit(owner, phone)];
  await laptop.context().clearCookies();
  const faults = await faultsAt(laptop, { front: '/', signin: '/signin', approval });
  await laptop.goto(`${here}/signin`);
  await laptop.getByLabel('E-mail address').fill(email);
  await laptop.getByRole('button', { name: 'Send me a link' }).click();
  await laptop.getByRole('heading', { name: 'Check your e-mail' }).waitFor();
  faults.push(...(await faultsOf(laptop, 'signin-waiting')));
  const link = await linkIn(email, /sign-in link/);
  faults.push(...(await faultsAt(laptop, { 'signin-same': link })));
  await other.context().clearCookies();
  faults.push(...(await faultsAt(other, { 'signin-link': link })));
  await other.getByRole('button', { name: 'Show a code' }).click();
  await other.locator('p.code').waitFor();
  faults.push(...(await faultsOf(other, 'signin-code')));
  await addSession(pottery, owner.accountId, other);
  const consent = `/oauth/authorize?${question}`;
  faults.push(...(await faultsAt(other, { consent, invitation: await linkIn(email, /invited to edit/) })));
  expect(faults).toEqual([]);
  for (const page of [laptop, other]) await page.context().close();
});

test('no page of a visitor breaks a rule', { timeout: 300_000 }, async () => {
  const { owner, site, publicId, form, payment, open } = business;
  const [, slot] = await pottery.slots(publicId, pottery.dateIn(2));
  const guest = { name: 'Grace Hopper', email: visitor };
  await owner.call('POST', `/v1/sites/${site.id}/bookings`, {
    body: { kind: 'booking', calendar: 'room', service: 'talk', start: slot?.start, visitor: guest },
  });
  const cancel = await linkIn(visitor, /Booked for/, /http\S+\/cancel\/\S+/);
  const { body: upload } = await owner.call('POST', `/v1/sites/${site.id}/uploads`, { body: { max_files: 3 } });
  const page = await pottery.visit(await pottery.newCaller(), phone);
  await page.context().clearCookies();
  const move = cancel.replace('/cancel/', '/move/');
  const faults = await faultsAt(page, {
    ...{ book: `/b/${publicId}`, cancel, move, form: `/f/${form.id}` },
    ...{ paid: `/pay/${payment.id}`, pay: `/pay/${open.id}`, upload: new URL(upload.url).pathname },
  });
  await page.goto(`${here}${move}`);
  await page.locator('a[href^="?date="]').first().click();
  await page.getByRole('radio').first().waitFor();
  faults.push(...(await faultsOf(page, 'move-times')));
  await page.goto(`${here}${cancel}`);
  await page.getByRole('button', { name: 'Cancel the booking' }).click();
  await page.getByRole('heading', { name: 'Your booking is cancelled' }).waitFor();
  faults.push(...(await faultsOf(page, 'cancelled')));
  expect(faults).toEqual([]);
  await page.context().close();
});
