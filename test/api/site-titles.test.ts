/** Titles of sites, which strangers read in e-mails. */
import { afterAll, expect, test } from 'vitest';
import { mailTitleOf } from '#rules/mail-titles.ts';
import { createFixture, createSite, errorOf, freeName } from './fixture.ts';

const fixture = await createFixture();
afterAll(() => fixture.close());

test('a title with a control character or several lines is refused', async () => {
  const owner = await fixture.newCaller();
  const site = await createSite(owner);
  for (const title of ['a\nb', 'a\r\nb', 'a\u0001b', 'a\u0085b', 'a\u2028b', 'a\u2029b', 'a\u001bb']) {
    const made = await owner.call('POST', '/v1/sites', { body: { name: freeName(), title, template: 'blank' } });
    const changed = await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title } });
    for (const answer of [made, changed]) expect([title, errorOf(answer).code]).toEqual([title, 'invalid_title']);
  }
  const title = 'Bäckerei “Ölmühle” 👩‍🍳';
  const { body } = await owner.call('PATCH', `/v1/sites/${site.id}`, { body: { title } });
  expect(body.title).toBe(title);
});

test.each([
  ['Bakery & Sons', 'Bakery & Sons'],
  ['  Two\n\n lines\u2028here ', 'Two lines here'],
  ['Mr. Smith 👩‍🍳', 'Mr. Smith 👩‍🍳'],
  ['See https://localhost', 'host.test'],
  ['Pay at evil.com', 'host.test'],
  ['Pay at evil\u200b.com', 'host.test'],
  ['me@evil.example', 'host.test'],
  ['\u200b\n', 'host.test'],
])('the title %j is written as %j in e-mails', (title, written) => {
  expect(mailTitleOf(title, 'host.test')).toBe(written);
});
