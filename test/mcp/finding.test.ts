/** What a model finds first with words of its owner, and the ways to free times. */
import { afterAll, expect, test } from 'vitest';
import { createBookingFixture } from '#test/bookings/fixture.ts';
import { challengeEnv } from '#test/forms/fixture.ts';
import { connect } from './fixture.ts';

const fixture = await createBookingFixture(challengeEnv);
const { owner, site, publicId } = await fixture.newBookable();
const agent = await connect(fixture.url, owner.token);
afterAll(async () => {
  await agent.close();
  await fixture.close();
});

const found = async (input: object): Promise<string> => {
  const { content } = await agent.call('find_operations', input);
  return (content as unknown as [{ text: string }])[0].text;
};

test.each([
  ['when is the next free appointment', 'offer_days'],
  ['next appointment', 'offer_days'],
  ['availability', 'offer_days'],
  ['free times', 'offer_days'],
  ['free times on Friday', 'offer_days'],
  ['list the bookings', 'booking_list'],
  ['change the opening hours on all pages', 'source_commit'],
  ['add a German version', 'source_commit'],
  ['move the booking of Ms Hill to Friday', 'booking_move'],
  ['why does the form get no enquiries', 'form_list'],
  ['who gets the enquiries by e-mail', 'form_update'],
  ['who booked today', 'booking_list'],
  ['undo the last publish', 'deployment_restore'],
  ['how many visitors', 'site_analytics'],
  ['another language', 'source_commit'],
  ['answer an enquiry', 'form_submissions'],
  ['close the site for a while', 'site_archive'],
])('“%s” finds %s first', async (words, operation) => {
  const text = await found({ words });
  expect(text.split('(', 1)).toEqual([operation]);
});

test('the limit of a file is in the description of its operation', async () => {
  const text = await found({ words: 'export', limit: 1 });
  expect(text).toMatch(/^site_export\(.*\n {2}A tool returns at most 100 KB, .*“Download the site”/);
});

test('free times are read by a site’s name, id or public id', async () => {
  for (const public_id of [site.name, site.id, publicId]) {
    const { body } = await agent.call('offer_days', { public_id, service: 'talk' });
    const [{ date }] = body.days;
    const { slots } = (await agent.call('offer_slots', { public_id, service: 'talk', date })).body;
    expect(slots[0]).toEqual({ start: expect.any(String), end: expect.any(String), seats_left: 1 });
  }
  const { error } = await agent.call('offer_days', { public_id: 'nobody', service: 'talk' });
  expect(error.code).toBe('not_found');
});

test('the descriptions of bookings lead to free times', async () => {
  for (const words of ['booking list', 'booking create', 'bookable read'])
    expect([words, await found({ words, limit: 1 })]).toEqual([words, expect.stringContaining('"offer_days"')]);
});
