/** Sentences and links of the console for people who know neither compilers nor git. */
import { expect, test } from 'vitest';
import { waitingItems } from '#api/console/home/waiting-items.ts';
import { reasonOf } from '#rules/builds/failures.ts';
import { actions } from '#rules/history.ts';
import { ofThisSite, sentenceOf } from '#web/console/acts.ts';
import { waitingList } from '#web/console/home/waiting.ts';
import type { html } from '#web/html.ts';

test.each([
  ['src/pages/index.astro:3:7: Unexpected "<"', 'The site’s code has an error in src/pages/index.astro, line 3.'],
  ['src/pages/[slug].astro: The oven is cold', 'The site’s code has an error in src/pages/[slug].astro.'],
  ['Unable to parse `src/two words.astro`', 'The site’s code has an error.'],
  ['"><script>', 'The site’s code has an error.'],
])('the compiler’s %s is said in a sentence, and kept', (message, sentence) => {
  expect(reasonOf({ code: 'build_failed', message })).toEqual({ sentence, raw: message });
});

test.each([
  ['build_failed', 'The build wrote no index.html. Add a home page, for example src/pages/index.astro.'],
  ['build_timeout', 'The build took longer than 60 seconds.'],
  ['invalid_redirects', 'Line 1 of _redirects is not valid.'],
])('what %s says in our own words stays as it is', (code, message) => {
  expect(reasonOf({ code, message })).toEqual({ sentence: message, raw: null });
});

test.each([
  ['submission.marked', { spam: true }, 'Marked a message as spam.'],
  ['submission.marked', { spam: false }, 'Marked a message as not spam.'],
  ['booking.created', { kind: 'block' }, 'Blocked time in a calendar.'],
  ['booking.moved', { kind: 'booking' }, 'Moved a booking to another time.'],
  ['site.updated', { title: { from: 'A', to: 'B' }, colors: {} }, 'Changed the title to “B” and the colours.'],
  ['timetable.updated', { changed: ['notify_to'] }, 'Changed where e-mails about bookings go.'],
  ['repository.committed', { files_changed: 2, branch: 'preview/3' }, 'Changed 2 files of the pages in preview 3.'],
  ['account.updated', { changed: [], asked: true }, 'Asked for another e-mail address.'],
  ['payment.created', { amount: 1250, currency: 'EUR' }, 'Created a payment link for €12.50.'],
])('the history says of %s with %j what was done', (action, detail, sentence) => {
  expect(sentenceOf({ action, subject: { name: null }, detail }, 'general')).toBe(sentence);
});

test('an entry without facts has the sentence of its action', () => {
  for (const action of ['submission.marked', 'booking.cancelled', 'site.updated', 'timetable.updated'])
    expect(sentenceOf({ action, subject: { name: null }, detail: {} }, 'general')).toBe('general');
});

test.each([
  ['site.published', { number: 4 }, { status: 'failed' }, 'Started to publish version 4. It failed.'],
  [
    'payment.refunded',
    { amount: 1500, of: 4500, currency: 'EUR' },
    {},
    'Started the refund of €15.00 of a payment of €45.00.',
  ],
  [
    'booking.created',
    { kind: 'booking', start: '2026-12-04T09:00:00Z' },
    { timeZone: 'Europe/Berlin' },
    'Added a booking for Friday, 4 December 2026, 10:00 (Europe/Berlin).',
  ],
  [
    'booking.moved',
    { kind: 'booking', from: '2026-12-04T09:00:00Z', to: '2026-12-05T09:00:00Z' },
    { timeZone: 'UTC' },
    'Moved a booking from Friday, 4 December 2026, 09:00 (UTC) to Saturday, 5 December 2026, 09:00 (UTC).',
  ],
])('the history says of %s how it ended, and for when', (action, detail, about, sentence) => {
  expect(sentenceOf({ action, subject: { name: null }, detail }, 'general', about)).toBe(sentence);
});

test('the history of a site calls it this site', () => {
  expect(ofThisSite(actions['site.archived'].says)).toBe('Archived this site.');
  expect(ofThisSite(actions['site.unarchived'].says)).toBe('Put this site online again.');
});

test('a domain without a site leads to the site of its name', () => {
  const day = (n: number) => new Date(Date.UTC(2026, 10, n));
  const sites = [
    { id: 'site_3', name: 'newest', createdAt: day(9) },
    { id: 'site_2', name: 'bakery', createdAt: day(5) },
    { id: 'site_1', name: 'pottery', createdAt: day(1) },
  ].map((site) => ({ ...site, role: 'owner', archived: false, deletion: null }));
  const leadsTo = (name: string) => {
    const domain = { kind: 'domain', id: 'dom_1', site: null, title: 'x', at: day(7), nextAction: '' } as const;
    const items = waitingItems([{ ...domain, freeDomain: { name, addedAt: day(6) } }], sites as never);
    const frame = { form: (_: unknown, inside: ReturnType<typeof html>) => inside, now: day(9) } as never;
    return waitingList(items, frame, new Set(sites.map(({ id }) => id))).markup;
  };
  expect(leadsTo('www.pottery.example')).toContain('href="/account/sites/site_1/domains/dom_1"');
  expect(leadsTo('bread.example')).toContain('href="/account/sites/site_2/domains/dom_1"');
});
