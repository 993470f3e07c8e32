/** Sentences and links of the console for people who know neither compilers nor git. */
import { expect, test } from 'vitest';
import { reasonOf } from '#rules/builds/failures.ts';
import { sentenceOf } from '#web/console/acts.ts';
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

test('a domain without a site leads to a page of its owner', () => {
  const [now, none] = [new Date(), { message: null, address: null, photo: null }];
  const item = { kind: 'domain', id: 'dom_1', siteId: null, title: 'The domain is not set up yet.', at: now, ...none };
  const own = { ids: new Set(['site_1']), first: 'site_1' };
  const frame = { form: (_: unknown, inside: ReturnType<typeof html>) => inside, now } as never;
  expect(waitingList([item], frame, own).markup).toContain('href="/account/sites/site_1/domains/dom_1"');
});
