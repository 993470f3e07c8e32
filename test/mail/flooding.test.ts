/** E-mails to addresses without an account: how many anyone can cause, and what the responses say about them. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { queueFirstContact, queueFollowUp, queueNotice } from '#db/mail/limits.ts';
import { Mail } from '#db/mail/mail.ts';
import { queueMail, settleMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { OutboxEntry } from '#db/outbox-entry.ts';
import { Site } from '#db/sites/site.ts';
import { type BookingFixture, createBookingFixture } from '#test/bookings/fixture.ts';
import { timetable } from '#test/bookings/timetable.ts';

const hourMs = 3600_000;
let fixture: BookingFixture;
beforeAll(async () => {
  fixture = await createBookingFixture({ FRONTAGE_RATE_SCALE: '1', FRONTAGE_TRUSTED_PROXIES: '127.0.0.1' });
});
afterAll(() => fixture?.close());

const times = <Made>(count: number, make: (n: number) => Made) => Array.from({ length: count }, (_, n) => make(n));
const data = { hostname: 'x.example', link: 'https://x.example', days: 1 };

/** Queues a first e-mail of the site to each address, one after the other. Returns how many wait to be sent. */
async function firstContacts(siteId: string, addresses: string[]): Promise<number> {
  const site = await fixture.deps.em().findOneOrFail(Site, siteId);
  const queued: Mail[] = [];
  for (const to of addresses) {
    const mail = { kind: 'invitation', to, data, site } as const;
    queued.push(await fixture.deps.em().transactional((tx) => queueFirstContact(tx, fixture.deps, mail)));
  }
  return queued.filter(({ status }) => status === 'queued').length;
}

test('seventy bookings for one address on many sites cause five e-mails to it', async () => {
  const roomy = timetable({ calendar: { capacity: 100 } });
  const sites = await Promise.all(times(14, () => fixture.newBookable(roomy)));
  const start = (await fixture.slots(sites[0]?.publicId ?? '', fixture.dateIn(9)))[0]?.start ?? '';
  const visitor = { name: 'Ada Visitor', email: 'victim@example.org' };
  const answers = await Promise.all(
    times(70, (n) =>
      fixture.book(sites[n % 14]?.publicId ?? '', start, { visitor }, { 'x-forwarded-for': `192.0.2.${n}` }),
    ),
  );
  expect(answers.filter(({ status, body }) => status === 200 && body.status === 'confirmed')).toHaveLength(70);
  expect(answers.filter(({ body }) => body.mail === 'not_sent')).toHaveLength(65);
  expect(await fixture.deps.em().count(Mail, { kind: 'booking-confirmed', status: 'queued' })).toBe(5);
  // The owners are notified of each.
  expect(await fixture.deps.em().count(Mail, { kind: 'booking-taken', status: 'queued' })).toBe(70);
});

test('an address receives five first e-mails an hour and twenty a day, invitations included', async () => {
  const { owner, site } = await fixture.newBookable();
  const victim = 'invited@example.org';
  const invite = async () => {
    const { body } = await owner.call('POST', `/v1/sites/${site.id}/collaborators`, { body: { email: victim } });
    await owner.call('DELETE', `/v1/sites/${site.id}/invitations/${body.id}`);
    return [body.status, body.mail, body.next_action];
  };
  // Providers deliver all of these to one mailbox.
  const spellings = times(6, (n) => `${['invited', 'Invited', 'in.vited', `invited+${n}`][n % 4]}@example.org`);
  const hours: number[] = [];
  for (let hour = 0; hour < 5; hour++) {
    hours.push(await firstContacts(site.id, spellings));
    expect(await invite()).toEqual(['open', 'not_sent', expect.stringContaining('was not sent')]);
    fixture.skip(hourMs);
  }
  expect(hours).toEqual([5, 5, 5, 5, 0]);
  fixture.skip(20 * hourMs);
  expect((await invite()).slice(0, 2)).toEqual(['open', 'queued']);
});

test('a site starts sixty first e-mails an hour, an account a hundred', async () => {
  const owner = await fixture.newCaller();
  const [one, two] = [await fixture.newSite(owner), await fixture.newSite(owner)];
  const other = await fixture.newSite(await fixture.newCaller());
  const guests = times(61, (n) => `guest-${n}@example.org`);
  expect(await firstContacts(one.id, guests)).toBe(60);
  expect(await firstContacts(two.id, guests)).toBe(40);
  expect(await firstContacts(other.id, guests.slice(0, 1))).toBe(1);
});

test('later e-mails about a booking wait for the next day, and none is dropped', async () => {
  const { em } = fixture.deps;
  const site = await em().findOneOrFail(Site, (await fixture.newSite(await fixture.newCaller())).id);
  const queue = (bookingId: string, to: string) =>
    em().transactional((tx) => queueFollowUp(tx, fixture.deps, bookingId, { kind: 'invitation', to, data, site }));
  const began = fixture.clock.now().getTime();
  const mails: Mail[] = [];
  for (let n = 0; n < 4; n++) {
    mails.push(await queue('book_one', 'guest@example.org'));
  }
  expect(mails.map(({ status }) => status)).toEqual(times(4, () => 'queued'));
  const days = mails.map(({ sendAt }) => Math.floor(((sendAt?.getTime() ?? 0) - began) / (24 * hourMs)));
  expect(days).toEqual([0, 0, 0, 1]);
  const starts = await em().find(OutboxEntry, { workflowId: { $in: mails.map(({ id }) => `mail:${id}`) } });
  expect(starts.map(({ message }) => message.startAt).sort()).toEqual(mails.map(({ sendAt }) => sendAt?.toISOString()));
  // Its cancellation does not wait: the booking may begin sooner. Neither does a refund.
  for (const [kind, to] of [
    ['booking-cancelled', 'guest@example.org'],
    ['payment-refunded', 'payer@example.org'],
  ] as const) {
    const end = { kind, to, data: data as never, site } as const;
    const pressing = await em().transactional((tx) => queueFollowUp(tx, fixture.deps, 'book_one', end));
    expect([kind, (pressing.sendAt?.getTime() ?? 0) - began < hourMs]).toEqual([kind, true]);
  }

  // A site that pays for its own bookings cannot flood an address: the sixth waits for an hour.
  const paid: Mail[] = [];
  for (let n = 0; n < 6; n++) paid.push(await queue(`book_paid_${n}`, 'other@example.org'));
  const waits = paid.map(({ sendAt }) => Math.floor(((sendAt?.getTime() ?? 0) - began) / hourMs));
  expect(waits).toEqual([0, 0, 0, 0, 0, 1]);
});

test('a site’s 301st e-mail an hour about bookings waits, and none is dropped', async () => {
  const { em, clock } = fixture.deps;
  const site = await em().findOneOrFail(Site, (await fixture.newSite(await fixture.newCaller())).id);
  const began = clock.now().getTime();
  await em().transactional(async (tx) => {
    for (let n = 0; n < 298; n++) {
      const about = { bookingId: `book_of_${n}`, sendAt: new Date(began + n) };
      queueMail(tx, fixture.deps, { kind: 'invitation', to: 'guest@example.org', data, site: site.id }, about);
    }
  });
  const mails: Mail[] = [];
  for (let n = 298; n < 303; n++) {
    const mail = { kind: 'invitation', to: `guest-${n}@example.org`, data, site } as const;
    mails.push(await em().transactional((tx) => queueFollowUp(tx, fixture.deps, `book_of_${n}`, mail)));
  }
  const hours = mails.map(({ sendAt }) => Math.floor(((sendAt?.getTime() ?? 0) - began) / hourMs));
  expect(hours).toEqual([0, 0, 1, 1, 1]);
  expect(await em().count(Mail, { siteId: site.id, status: 'queued' })).toBe(303);
  // Other sites do not wait.
  const other = await em().findOneOrFail(Site, (await fixture.newSite(await fixture.newCaller())).id);
  const mail = { kind: 'invitation', to: 'guest@example.org', data, site: other } as const;
  const first = await em().transactional((tx) => queueFollowUp(tx, fixture.deps, 'book_elsewhere', mail));
  expect((first.sendAt?.getTime() ?? 0) - began).toBeLessThan(hourMs);
});

test('a site’s owner is notified sixty times an hour, and of the others later', async () => {
  const { em } = fixture.deps;
  const owner = await fixture.newCaller();
  const [one, two] = [await fixture.newSite(owner), await fixture.newSite(owner)];
  const site = await em().findOneOrFail(Site, one.id);
  const began = fixture.clock.now().getTime();
  const notice = (of: Site, kind: 'invitation' | 'submission' = 'submission') =>
    em().transactional((tx) =>
      queueNotice(tx, fixture.deps, { kind, to: 'o@example.org', data: data as never, site: of }),
    );
  const mails: Mail[] = [];
  for (let n = 0; n < 125; n++) mails.push(await notice(site));
  const hours = mails.map(({ sendAt }) => Math.floor(((sendAt?.getTime() ?? 0) - began) / hourMs));
  const counts = [0, 1, 2].map((hour) => hours.filter((one) => one === hour).length);
  expect(counts).toEqual([60, 60, 5]);
  expect(mails.every(({ status }) => status === 'queued')).toBe(true);
  // A flood of enquiries delays no notice of a booking.
  for (const other of [await notice(await em().findOneOrFail(Site, two.id)), await notice(site, 'invitation')]) {
    expect((other.sendAt?.getTime() ?? 0) - began).toBeLessThan(hourMs);
  }
});

test('e-mails that were withdrawn delay no other', async () => {
  const { em, clock } = fixture.deps;
  const site = await em().findOneOrFail(Site, (await fixture.newSite(await fixture.newCaller())).id);
  const mail = { kind: 'invitation', to: 'moved@example.org', data, site } as const;
  const began = clock.now().getTime();
  const lasts: (Mail | undefined)[] = [];
  const queues = [
    (tx: EntityManager) => queueFollowUp(tx, fixture.deps, 'book_moved', mail),
    (tx: EntityManager) => queueNotice(tx, fixture.deps, mail),
  ];
  for (const queue of queues) {
    let last: Mail | undefined;
    for (let n = 0; n < 65; n++) {
      const withdrawn = { status: 'failed', failure: 'withdrawn' } as const;
      if (last) expect(await settleMail(em(), clock, last.id, withdrawn)).toBe(true);
      last = await em().transactional(queue);
    }
    lasts.push(last);
  }
  const waits = lasts.map((last) => Math.floor(((last?.sendAt?.getTime() ?? 0) - began) / hourMs));
  expect(waits).toEqual([0, 0]);
});
