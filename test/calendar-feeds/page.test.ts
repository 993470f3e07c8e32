/** Calendar feeds on the owner's page. */
import { afterAll, expect, test } from 'vitest';
import { createSite } from '#test/api/fixture.ts';
import { formsOf } from '#test/people/browser.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());

test('owners see the calendar feeds of their sites, and revoke them', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner);
  expect((await owner.browser.open('/account/agents')).text).not.toContain('Calendar addresses');
  const { body } = await owner.call('POST', `/v1/sites/${site.id}/calendar-feeds`);
  const page = await owner.browser.open('/account/agents');
  expect(page.text).toContain('Calendar addresses');
  expect(page.text).not.toContain('frk_');
  const path = `/account/calendar-feeds/${body.id}/revoke`;
  const asked = await owner.browser.open(path);
  expect(asked.text).toContain('Revoke this calendar address?');
  const [form] = formsOf(asked).filter(({ action }) => action === path);
  expect(page.text).toContain(`href="${path}"`);
  const stranger = await fixture.newSignedIn('Phone');
  expect((await stranger.browser.open(path)).status).toBe(404);
  const headers = { 'sec-fetch-site': 'same-origin' };
  const { fields } = formsOf(await stranger.browser.open('/account/agents'))[0] ?? {};
  expect((await stranger.browser.go('POST', form?.action ?? '', fields, headers)).status).toBe(404);
  const after = await owner.browser.go('POST', form?.action ?? '', form?.fields, headers);
  expect([after.url, after.text.includes('Calendar addresses')]).toEqual(['/account/agents', false]);
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/calendar-feeds`)).body;
  expect(items).toMatchObject([{ id: body.id, status: 'ended' }]);
});
