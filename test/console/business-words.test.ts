/** Pages of a business: texts of others are escaped, and no other account finds the pages. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { daily, timetable } from '#test/bookings/timetable.ts';
import { attachAccount } from '#test/payments/fixture.ts';
import { heldIn } from '#test/payments/held.ts';
import { formsOf } from '#test/people/browser.ts';
import { until } from '#test/stack/until.ts';
import { openPottery, type Pottery, usualWords, type Words } from './pottery.ts';
import { signedIn } from './session.ts';

type Business = Awaited<ReturnType<Pottery['newBusiness']>>;
let pottery: Pottery;
beforeAll(async () => {
  pottery = await openPottery({ browser: false });
}, 60_000);
afterAll(() => pottery?.close());

/** Pages of a site that its people see, and whether only its owner does. */
async function pagesOf({
  owner,
  form,
  booking,
  payment,
  open,
  collaborator,
}: Business): Promise<[path: string, ownerOnly: boolean][]> {
  const { body } = await owner.call('GET', `/v1/forms/${form.id}/submissions`);
  const message = `/messages/${body.items[1].id}`;
  const shared = [
    '/messages',
    `/messages/file?form=${form.id}`,
    message,
    `${message}/delete`,
    '/bookings',
    '/bookings/list',
    '/bookings/new',
    '/bookings/block',
    `/bookings/new?what=talk+room&date=${pottery.dateIn(3)}`,
    `/bookings/${booking.id}`,
    `/bookings/${booking.id}/move?date=${pottery.dateIn(3)}`,
    `/bookings/${booking.id}/cancel`,
    '/payments',
    '/payments/new',
    `/payments/${payment.id}`,
    `/payments/${payment.id}/refund`,
    `/payments/${open.id}/close`,
    '/domains',
    '/people',
    '/settings',
  ];
  const own = [`/people/${collaborator.accountId}/remove`, '/settings/archive', '/settings/delete'];
  return [
    ...shared.map((path): [string, boolean] => [path, false]),
    ...own.map((path): [string, boolean] => [path, true]),
  ];
}

const payloads = [
  '"><script>alert(1)</script>',
  "'><img src=x onerror=alert(1)>",
  '</title><svg/onload=alert(1)>',
  '<!--<a href=javascript:alert(1)>',
  '{{alert(1)}}<b>`',
];

test.each(payloads)('no page runs what a visitor, a tenant or a collaborator writes: %s', async (payload) => {
  const names = Object.keys(usualWords) as (keyof Words)[];
  // Each text says where it is from.
  const words = Object.fromEntries(names.map((name) => [name, `${name} ${payload}`])) as Words;
  const business = await pottery.newBusiness(words);
  const browser = await signedIn(pottery, business.owner.accountId);
  const seen = new Set<string>();
  for (const [path] of await pagesOf(business)) {
    const { status, text, headers } = await browser.open(`/account/sites/${business.site.id}${path}`);
    expect([path, status]).toEqual([path, 200]);
    if (!headers.get('content-type')?.startsWith('text/html')) continue;
    expect([path, text.includes(payload)]).toEqual([path, false]);
    const tags = text.replace(/"[^"]*"/g, '""');
    expect([path, /<[^>]*\son\w+=|<script>alert|<b>`/i.test(tags), /href="javascript:/i.test(text)]).toEqual([
      path,
      false,
      false,
    ]);
    for (const name of names) if (text.includes(`${name} ${escaped(payload)}`)) seen.add(name);
  }
  expect([...seen].sort()).toEqual([...names].sort());
});

const escaped = (text: string) => text.replace(/[&<>"'`]/g, (character) => `&#${character.charCodeAt(0)};`);

test('a stranger finds nothing of a business, and a collaborator what is theirs', async () => {
  const business = await pottery.newBusiness();
  const { owner, site, collaborator, payment } = business;
  const stranger = await pottery.newCaller();
  const [theirs, guest, own] = await Promise.all(
    [stranger, collaborator, owner].map(({ accountId }) => signedIn(pottery, accountId)),
  );
  const other = await pottery.newBusiness();
  const elsewhere = await signedIn(pottery, other.owner.accountId);
  const home = await theirs?.open('/account');
  const token = (home && formsOf(home)[0]?.fields.form) ?? '';
  for (const [path, ownerOnly] of await pagesOf(business)) {
    const at = (siteId: string) => `/account/sites/${siteId}${path}`;
    const statuses = [(await theirs?.open(at(site.id)))?.status, (await guest?.open(at(site.id)))?.status];
    expect([path, ...statuses]).toEqual([path, 404, ownerOnly ? 403 : 200]);
    // The thing of one site is not found below another.
    if (/_[0-9a-z]{26}/.test(path.split('?', 1)[0] ?? '')) {
      expect([path, (await elsewhere.open(at(other.site.id))).status]).toEqual([path, 404]);
    }
    const page = await own?.open(at(site.id));
    for (const { action, fields } of page ? formsOf(page) : []) {
      if (!action.startsWith('/account/sites/') || action === '' || page === undefined) continue;
      const sent = { ...fields, form: token };
      const answer = await theirs?.go('POST', action, sent, { 'sec-fetch-site': 'same-origin' });
      expect([action, answer?.status]).toEqual([action, 404]);
    }
  }
  const refund = (await guest?.open(`/account/sites/${site.id}/payments/${payment.id}/refund?amount=12.5`)) ?? {
    status: 0,
    text: '',
    url: '',
    headers: new Headers(),
  };
  const refused = await guest?.press(refund, 'Refund €12.50');
  expect([refused?.status, refused?.text.includes(`Only the owner of ${site.name} can`)]).toEqual([403, true]);
  expect((await guest?.open(`/account/sites/${site.id}/settings/export`))?.status).toBe(403);
  expect((await owner.call('GET', `/v1/payments/${payment.id}`)).body.refunded_amount).toBe(0);
}, 120_000);

test('a refused move shows the other times of its day', async () => {
  const { owner, site, booking, publicId } = await pottery.newBusiness();
  const date = pottery.dateIn(3);
  const times = await pottery.slots(publicId, date);
  const [taken, free] = [times[0], times.at(-1)];
  const browser = await signedIn(pottery, owner.accountId);
  const page = await browser.open(`/account/sites/${site.id}/bookings/${booking.id}/move?date=${date}`);
  const block = { kind: 'block', calendar: 'room', start: taken?.start, end: taken?.end };
  expect((await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body: block })).status).toBe(200);
  const refused = await browser.press(page, 'Move the booking', { start: taken?.start ?? '' });
  expect([refused.status, refused.text.includes(`value="${free?.start}"`)]).toEqual([409, true]);
  const zoned = ['Start (Europe/Berlin)', 'Time (Europe/Berlin)'];
  expect(refused.text.match(/(Time|Start) \(Europe\/Berlin\)/g)).toEqual(zoned);
  const blocking = await browser.open(`/account/sites/${site.id}/bookings/block`);
  expect(blocking.text).toContain('<option value="room">The studio (Europe/Berlin)</option>');
});

test('a payment is requested in the currency of the payout account', async () => {
  const owner = await pottery.newCaller();
  const site = await pottery.newSite(owner);
  await attachAccount(pottery, owner, site.id, { currency: 'CHF' });
  const browser = await signedIn(pottery, owner.accountId);
  const page = await browser.open(`/account/sites/${site.id}/payments/new`);
  expect([page.text.includes('Amount, in CHF'), page.text.includes('<select')]).toEqual([true, false]);
  await browser.press(page, 'Create the link', { amount: '25' });
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/payments`)).body;
  expect(items).toMatchObject([{ amount: 2500, currency: 'CHF' }]);
});

test('a booking can be moved to a time that overlaps its own', async () => {
  const calendar = { time_zone: 'UTC', hours: [{ days: daily[0]?.days, from: '10:00', to: '11:30' }] };
  const { owner, site, publicId } = await pottery.newBookable(timetable({ calendar, service: { step_minutes: 30 } }));
  const date = pottery.dateIn(3);
  const [first, second] = (await pottery.slots(publicId, date)).map(({ start }) => start);
  const { body } = await pottery.book(publicId, first ?? '');
  const browser = await signedIn(pottery, owner.accountId);
  const page = await browser.open(`/account/sites/${site.id}/bookings/${body.id}/move?date=${date}`);
  const moved = await browser.press(page, 'Move the booking', { start: second ?? '' });
  expect([page.text.includes(`value="${second}"`), moved.status]).toEqual([true, 200]);
  expect((await owner.call('GET', `/v1/bookings/${body.id}`)).body.start).toBe(second);
});

test('pages that act on a visitor say what the visitor receives', async () => {
  const { owner, site, booking, publicId, payment } = await pottery.newBusiness();
  const browser = await signedIn(pottery, owner.accountId);
  const open = async (path: string) => (await browser.open(`/account/sites/${site.id}${path}`)).text;
  for (const [page, words] of [
    ['move', 'Please tell them the new time, in person or by phone.'],
    ['cancel', 'Please tell them that the booking is cancelled, in person or by phone.'],
  ] as const)
    expect(await open(`/bookings/${booking.id}/${page}`)).toContain(`Grace Hopper gets no e-mail about this. ${words}`);
  const [free] = await pottery.slots(publicId, pottery.dateIn(4));
  const wishing = { kind: 'booking', calendar: 'room', service: 'talk', start: free?.start };
  const visitor = { name: 'Ida', email: 'ida@example.org', notify_changes: true };
  const { body } = await owner.call('POST', `/v1/sites/${site.id}/bookings`, { body: { ...wishing, visitor } });
  const sent = async () => (await owner.call('GET', `/v1/bookings/${body.id}`)).body.mail;
  await until(sent, (mail) => mail === 'sent');
  for (const [page, words] of [
    ['move', 'with the new time and a calendar file'],
    ['cancel', 'about the cancellation. It has no calendar file'],
  ] as const)
    expect(await open(`/bookings/${body.id}/${page}`)).toContain(`Ida gets an e-mail ${words}`);
  expect(await open(`/bookings/${body.id}`)).toContain('<dt>E-mail address</dt><dd>Not stored');
  expect(await open(`/bookings/${body.id}`)).not.toContain('ida@example.org');
  expect(await open('/payments/new')).toContain('Once it is paid, the payer gets a receipt by e-mail.');
  const refund = await browser.open(`/account/sites/${site.id}/payments/${payment.id}/refund?amount=5`);
  for (const words of ['<dt>Refunds</dt><dd>None so far</dd>', 'The payer gets an e-mail once the refund is complete'])
    expect(refund.text).toContain(words);
  await browser.press(refund, 'Refund €5.00');
  const part = () => open(`/payments/${payment.id}`);
  const after = await until(part, (text) => text.includes('The payer got an e-mail about the newest refund.'));
  expect(after).toMatch(/<dt>Refund<\/dt><dd><span class="line">€5\.00 refunded on \d+ \w+ \d{4} at /);
  for (const words of ['€5.00 is refunded. €7.50 remain.', '<dt>Payer</dt><dd>Not given</dd>'])
    expect(after).toContain(words);
  expect(await open(`/payments/${payment.id}/refund`)).toContain('€5.00 refunded on ');
});

test('a paid booking’s page shows its payment, refunds and where the address is', async () => {
  const { owner, site, id, paymentId, payUrl, statusOf } = await heldIn(pottery);
  await pottery.press((await pottery.openLink(payUrl)).page);
  await until(statusOf, (status) => status === 'confirmed');
  const sent = { body: { amount: 1000 }, headers: { 'idempotency-key': 'rain' } };
  await owner.call('POST', `/v1/payments/${paymentId}/refund`, sent);
  const browser = await signedIn(pottery, owner.accountId);
  const payerOf = async (path: string) => /<dt>Payer<\/dt><dd>([^<]*)</.exec((await browser.open(path)).text)?.[1];
  const { text } = await browser.open(`/account/sites/${site.id}/bookings/${id}`);
  expect(await payerOf(`/account/sites/${site.id}/payments/${paymentId}`)).toBe('Ada Visitor');
  for (const words of ['€25.00 paid on ', '€10.00 refunded on ', 'In the e-mail “New booking” with the reference '])
    expect(text).toContain(words);
  const refund = (await browser.open(`/account/sites/${site.id}/payments/${paymentId}/refund`)).text;
  expect(refund).toContain('The booking stays valid and keeps its time.');
  expect(refund).toContain('<dt>Left to refund</dt><dd><strong>€15.00</strong></dd>');
});

test('the page of messages says what the CSV has, and that nothing is left', async () => {
  const { owner, site, form } = await pottery.newBusiness();
  const browser = await signedIn(pottery, owner.accountId);
  const base = `/account/sites/${site.id}/messages`;
  const [first, second] = (await owner.call('GET', `/v1/forms/${form.id}/submissions`)).body.items;
  await owner.call('PATCH', `/v1/submissions/${first.id}`, { body: { spam: true } });
  const held = await browser.open(`${base}/${first.id}`);
  expect(held.text).toMatch(/Not spam<\/button>[\s\S]*<a class="button small quiet" href="mailto:/);
  const { text } = await browser.open(base);
  expect(text).toContain('The file has all messages of “Contact”, also older ones, but no spam.');
  const [, spam = ''] = /href="([^"]+)" download>Download the spam as CSV</.exec(text) ?? [];
  const file = await browser.open(spam.replaceAll('&#38;', '&'));
  expect([file.text.includes(first.id), file.text.includes(second.id)]).toEqual([true, false]);
  expect(file.text).toContain('"Received (Europe/Berlin)"');
  expect(file.headers.get('content-disposition')).toContain('filename="The pottery - Contact, messages.csv"');
  await owner.call('DELETE', `/v1/submissions/${second.id}?confirm=true`);
  const empty = (await browser.open(base)).text;
  expect([empty.includes('No messages. '), empty.includes('No messages yet')]).toEqual([true, false]);
});
