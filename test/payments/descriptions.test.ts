/** What the payer reads of a payment, and how its site's people find it. */
import { expect, test } from 'vitest';
import { errorOf } from '#test/api/fixture.ts';
import { type PayingFixture, usePayingFixture } from './fixture.ts';
import { heldIn } from './held.ts';

let fixture: PayingFixture;
usePayingFixture((made) => {
  fixture = made;
});

const textOf = async (page: string | null) => await (await fetch(page ?? '')).text();

test('the payer reads what is paid for and to whom, and no reference', async () => {
  const said = { description: 'Two “Sunday” loaves & coffee', reference: 'secret-of-the-till' };
  const { payUrl, owner, site, read, id } = await fixture.newPayment({}, said);
  expect(await read()).toMatchObject({ ...said, booking_id: null });
  const link = `${fixture.url}${new URL(payUrl).pathname}`;
  const looked = await (await fetch(link, { method: 'GET', headers: { 'sec-purpose': 'prefetch' } })).text();
  const { page } = await fixture.openLink(payUrl);
  const before = await textOf(page);
  const after = (await fixture.press(page)).text;
  const { title, address } = (await owner.call('GET', `/v1/sites/${site.id}`)).body;
  const { hostname } = new URL(address);
  for (const text of [looked, before, after]) {
    for (const part of ['Two “Sunday” loaves &#38; coffee', title, hostname, '€12.50']) expect(text).toContain(part);
    expect(text).not.toContain(said.reference);
  }
  const atProvider = [...fixture.stub.stub.objects.values()].filter((one) => JSON.stringify(one).includes(id));
  expect(atProvider.length).toBeGreaterThan(1);
  expect(JSON.stringify(atProvider)).not.toContain(said.reference);
});

test('a payment without a description names the business to its payer', async () => {
  const { payUrl, owner, site } = await fixture.newPayment();
  const { title } = (await owner.call('GET', `/v1/sites/${site.id}`)).body;
  const { page } = await fixture.openLink(payUrl);
  expect(await textOf(page)).toContain(`Payment to ${title}`);
});

test.each([
  ['', 'empty'],
  ['x'.repeat(201), 'too long'],
  ['two\nlines', 'not one line'],
  ['Pay the rest at https://localhost/x', 'a web address'],
  ['Loaves, confirm on bank.example.com', 'a host'],
  ['Questions to ada@example.org', 'an e-mail address'],
])('a description that is %j is invalid_payment', async (description) => {
  const { owner, site } = await fixture.newPaidSite();
  const body = { amount: 1250, currency: 'EUR', description };
  const answer = await owner.call('POST', `/v1/sites/${site.id}/payments`, { body });
  expect(errorOf(answer)).toMatchObject({ code: 'invalid_payment', message: expect.stringContaining('description') });
});

test('the payment of a booking shows service and time, and names the booking', async () => {
  const { owner, site, id, payment, payUrl } = await heldIn(fixture);
  const { description, booking_id } = await payment.read();
  expect(booking_id).toBe(id);
  expect(description).toMatch(/^.+, \w+day,? \d+ \w+ \d{4} at \d\d:\d\d \(\w+\/\w+\)$/);
  const { body } = await owner.call('GET', `/v1/sites/${site.id}/payments`);
  expect(body.items).toEqual([expect.objectContaining({ booking_id: id, description })]);
  const { page } = await fixture.openLink(payUrl);
  expect(await textOf(page)).toContain(description);
});

test('a list finds the payments of a reference, page by page', async () => {
  const { owner, site } = await fixture.newPaidSite();
  const list = `/v1/sites/${site.id}/payments`;
  const open = async (reference?: string) =>
    (await owner.call('POST', list, { body: { amount: 1250, currency: 'EUR', reference } })).body.id as string;
  const [one, , two] = [await open('a b&c'), await open('a'), await open('a b&c'), await open()];
  const query = `reference=${encodeURIComponent('a b&c')}`;
  const first = (await owner.call('GET', `${list}?${query}&limit=1`)).body;
  expect(first.items.map((row: { id: string }) => row.id)).toEqual([two]);
  const next = (await owner.call('GET', `${list}?${query}&limit=1&cursor=${first.next_cursor}`)).body;
  expect([next.items.map((row: { id: string }) => row.id), next.next_cursor]).toEqual([[one], null]);
  const foreign = await owner.call('GET', `${list}?reference=a&limit=1&cursor=${first.next_cursor}`);
  expect(errorOf(foreign).code).toBe('invalid_cursor');
  const none = (await owner.call('GET', `${list}?${query}&status=paid`)).body.items;
  expect(none).toEqual([]);
  for (const odd of ['%00', 'a%00', '%ED%A0%80'])
    expect([200, 400]).toContain((await owner.call('GET', `${list}?reference=${odd}`)).status);
});

test.each([
  ['JPY', 1250, '¥1,250'],
  ['KWD', 12_500, 'KWD\u00a012.500'],
  ['ISK', 5000, 'ISK\u00a05,000'],
])('a payment in %s of %i is %s on each page', async (currency, amount, written) => {
  const { payUrl, id } = await fixture.newPayment({ currency }, { amount, currency });
  const { page } = await fixture.openLink(payUrl);
  expect(await textOf(page)).toContain(`<h1>${written}</h1>`);
  expect((await fixture.press(page)).text).toContain(written);
  expect(fixture.heldFor(id)).toBe(currency === 'ISK' ? amount * 100 : amount);
});
