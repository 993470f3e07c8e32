/**
 * What an owner does by hand, in Chromium: at both widths, in each scheme, with scripts and without, with the keyboard alone.
 * @module-tag chromium
 */
import { readFile } from 'node:fs/promises';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { callWith, createSite } from '#test/api/fixture.ts';
import { until } from '#test/stack/until.ts';
import {
  activate,
  follow,
  followTab,
  notice,
  press,
  pressInPlace,
  typeInto,
  type Way,
  walk,
  ways,
} from './journeys.ts';
import { openPottery, type Pottery } from './pottery.ts';

type Business = Awaited<ReturnType<Pottery['newBusiness']>>;
let pottery: Pottery;
beforeAll(async () => {
  pottery = await openPottery();
}, 60_000);
afterAll(() => pottery?.close());

/** A page of the person in this way. */
async function visit(who: Pick<Business['owner'], 'accountId'>, way: Way): Promise<Page> {
  const look = { width: way.width, colorScheme: way.theme };
  const options = { forcedColors: way.forced ? 'active' : 'none', javaScriptEnabled: way.scripts } as const;
  return walk(await pottery.visit(who, look, options), way);
}

/** Opens one message, marks the other as read, and deletes it as spam. */
async function tidyMessages(page: Page, { site, form, owner }: Business): Promise<void> {
  await page.goto(pottery.path(site.id, '/messages'));
  await follow(page, 'Ada Lovelace');
  await followTab(page, 'Messages');
  expect(await page.getByText('New', { exact: true }).count()).toBe(1);
  await press(page, 'Mark as read');
  expect(await notice(page)).toBe('Marked as read.');
  await follow(page, 'Alan');
  await press(page, 'Mark as spam');
  await follow(page, 'Delete');
  await press(page, 'Delete the message');
  expect(await notice(page)).toBe('The message is deleted.');
  const kept = async (spam: boolean) =>
    (await owner.call('GET', `/v1/forms/${form.id}/submissions?spam=${spam}`)).body.items;
  expect([(await kept(false)).length, (await kept(true)).length]).toEqual([1, 0]);
}

/** Moves the booking to the first other time, and cancels it. */
async function moveAndCancel(page: Page, { site, booking, owner }: Business): Promise<void> {
  const read = async () => (await owner.call('GET', `/v1/bookings/${booking.id}`)).body;
  await page.goto(pottery.path(site.id, `/bookings/${booking.id}`));
  await follow(page, 'Move');
  await activate(page, page.locator('.days a').nth(3));
  await press(page, 'Move the booking');
  expect(await notice(page)).toMatch(/^Moved\. Grace Hopper gets no e-mail about this\. Please tell them the new time/);
  expect((await read()).start).not.toBe(booking.start);
  const facts = await page.locator('.facts').textContent();
  expect(facts).toMatch(/Moved\s*On [^,]+ by you, from \d+ \w+ \d{4} at \d\d:\d\d/);
  await follow(page, 'Cancel the booking');
  await press(page, 'Cancel the booking');
  expect(await notice(page)).toMatch(
    /^The booking is cancelled\. Grace Hopper gets no e-mail.* tell them that the booking is cancelled/,
  );
  expect((await read()).status).toBe('cancelled');
}

/** Books for somebody at a time of their own, and blocks an hour. */
async function bookAndBlock(page: Page, { site, owner }: Business): Promise<void> {
  await page.goto(pottery.path(site.id, '/bookings'));
  await follow(page, 'New booking');
  const date = pottery.dateIn(5);
  await page.getByLabel('Day').fill(date);
  await press(page, 'Show the times');
  await page.getByLabel(/^Another time/).check();
  await page.getByLabel('Start of the other time').fill('09:07');
  await typeInto(page, 'Name', 'Tim');
  await press(page, 'Book');
  expect(await notice(page)).toContain('Booked. The visitor gets no e-mail. Visitors could not have booked this time');
  await followTab(page, 'Bookings');
  await follow(page, 'Block time');
  for (const [label, value] of [
    ['From', date],
    ['Until', date],
  ] as const)
    await page.getByLabel(label).fill(value);
  await page.getByLabel('Start time').fill('12:00');
  await page.getByLabel('End time').fill('11:00');
  await press(page, 'Block this time');
  expect(await page.getByRole('alert').textContent()).toContain('The end must be after the start.');
  expect(await page.getByLabel('Start time').inputValue()).toBe('12:00');
  await page.getByLabel('End time').fill('13:00');
  await press(page, 'Block this time');
  expect(await notice(page)).toBe('This time is blocked.');
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/bookings`)).body;
  expect(
    items.map(({ kind, start }: { kind: string; start: string }) => [kind, start.slice(0, 16)]).slice(0, 2),
  ).toEqual([
    ['block', `${date}T12:00`],
    ['booking', `${date}T09:07`],
  ]);
}

/** Refunds a part, and asks for too much. */
async function refundPart(page: Page, { site, payment, owner }: Business, { scripts }: Way): Promise<void> {
  await page.goto(pottery.path(site.id, '/payments'));
  await follow(page, 'Two bowls, glazed');
  await follow(page, 'Refund');
  const amount = page.getByLabel('Amount to refund, in EUR');
  expect(await amount.inputValue()).toBe('');
  for (const [typed, fault] of [
    ['a lot', 'must be an amount in EUR'],
    ['20', '€12.50'],
  ] as const) {
    await typeInto(page, 'Amount to refund, in EUR', typed);
    await press(page, 'Continue');
    expect(await page.getByRole('alert').textContent()).toContain(fault);
    expect(await amount.inputValue()).toBe(typed);
  }
  await typeInto(page, 'Amount to refund, in EUR', '5');
  await press(page, 'Continue');
  expect(await page.locator('main').textContent()).toContain('€7.50 remain with you.');
  await press(page, 'Refund €5.00');
  expect(await notice(page)).toMatch(/^€5\.00 is being refunded/);
  const read = async () => (await owner.call('GET', `/v1/payments/${payment.id}`)).body.refunded_amount;
  await until(read, (refunded) => refunded === 500);
  if (scripts) await page.getByText('Paid, €5.00 refunded, €7.50 remain').waitFor();
  await page.reload();
  expect(await notice(page)).toBe('€5.00 is refunded. €7.50 remain.');
}

/** Requests a payment, and closes its link. */
async function requestAndClose(page: Page, { site, owner }: Business): Promise<void> {
  await page.goto(pottery.path(site.id, '/payments/new'));
  await typeInto(page, 'Amount', '1,250');
  await typeInto(page, 'What the payment is for', 'A kiln');
  await press(page, 'Create the link');
  await page.getByText('€1,250.00').waitFor();
  const id = page.url().split('/').at(-1);
  expect((await owner.call('GET', `/v1/payments/${id}`)).body).toMatchObject({
    amount: 125_000,
    description: 'A kiln',
  });
  await follow(page, 'Cancel the payment request');
  await press(page, 'Cancel the payment request');
  expect(await notice(page)).toMatch(/^The link is (being )?closed/);
}

/** Makes a token by hand, which acts, and revokes it. */
async function changeAgents(page: Page): Promise<void> {
  await page.goto('http://desk.localhost/account/agents');
  await follow(page, 'Connect an agent');
  expect(await page.getByText('claude mcp add --transport http frontage http://desk.localhost/mcp').count()).toBe(1);
  await follow(page, 'Create one by hand');
  await typeInto(page, 'Name', 'My editor');
  await press(page, 'Create the token');
  const secret = (await page.locator('.copyable code').textContent()) ?? '';
  const act = async () => (await callWith(pottery.url, secret)('GET', '/v1/sites')).status;
  expect(await act()).toBe(200);
  await page.goto('http://desk.localhost/account/agents');
  await follow(page, 'Revoke the access of My editor');
  await press(page, 'Revoke its access');
  expect(await notice(page)).toContain('My editor no longer has access');
  expect(await act()).toBe(401);
}

test.each(ways)(
  'an owner runs the business by hand ($name)',
  async (way) => {
    const business = await pottery.newBusiness();
    const page = await visit(business.owner, way);
    await tidyMessages(page, business);
    await moveAndCancel(page, business);
    await bookAndBlock(page, business);
    await refundPart(page, business, way);
    await requestAndClose(page, business);
    await changeAgents(page);
    await page.context().close();
  },
  120_000,
);

test.each(ways)('an owner exports, archives, deletes and restores a site ($name)', { timeout: 60_000 }, async (way) => {
  const owner = await pottery.newCaller();
  const site = await createSite(owner, { title: 'The bakery' });
  const page = await visit(owner, way);
  await page.goto(pottery.path(site.id, '/settings'));
  const begun = page.waitForEvent('download');
  await pressInPlace(page, page.getByRole('link', { name: 'Download the site' }));
  const file = await begun;
  expect(file.suggestedFilename()).toBe(`${site.name}.tar`);
  expect((await readFile(await file.path())).subarray(257, 262).toString()).toBe('ustar');
  await follow(page, 'Archive the site');
  await press(page, 'Archive the site');
  await follow(page, 'Delete the site');
  await press(page, 'Delete the site');
  expect(await notice(page)).toContain('The bakery is being deleted. You can restore it for 30 days.');
  await follow(page, 'Restore');
  await activate(page, page.getByRole('button', { name: /Restore/ }));
  expect((await owner.call('GET', `/v1/sites/${site.id}`)).body.status).toBe('archived');
  await page.context().close();
});

test.each(ways)('a collaborator leaves a site ($name)', { timeout: 60_000 }, async (way) => {
  const owner = await pottery.newCaller();
  const site = await createSite(owner);
  const page = await visit(await pottery.newCollaborator(owner, site.id), way);
  await page.goto(pottery.path(site.id, '/people'));
  await follow(page, 'Leave this site');
  await press(page, 'Leave');
  await page.getByRole('heading', { name: `You have left ${site.name}.sites.localhost` }).waitFor();
  expect((await page.goto(pottery.path(site.id)))?.status()).toBe(404);
  await page.context().close();
});
