import { afterAll, expect, test } from 'vitest';
import type { Plan } from '#rules/plans.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { startPaymentsStub } from '#tools/local/payments/stub.ts';
import { ownPlans, writeCatalog } from './fixture.ts';

const key = 'sk_test_platform0000';
const provider = await startPaymentsStub({ clock: { now: () => new Date() }, key });
// One plan has the name of what another button does.
const plans = [...ownPlans(), { ...(ownPlans().at(-1) as Plan), name: 'manage' }];
const [fixture, unmetered] = await Promise.all([
  createPeopleFixture({
    FRONTAGE_BILLING_KEY: key,
    FRONTAGE_BILLING_URL: provider.url,
    FRONTAGE_PLANS: writeCatalog(plans),
  }),
  createPeopleFixture(),
]);
afterAll(() => Promise.all([fixture.close(), unmetered.close(), provider.close()]));

const linkOf = (text: string) => /<a class="button[^"]*" href="([^"]*)"/.exec(text)?.[1] ?? '';

test('the owner sees the plan, and changes and manages it by buttons', async () => {
  const { browser } = await fixture.newSignedIn();
  const before = await browser.open('/account/settings');
  for (const part of ['<h2>Plan</h2>', 'free', '€9.00 a month', 'Change to studio'])
    expect(before.text).toContain(part);
  for (const part of ['Manage', 'Change to shop', 'Change to free']) expect(before.text).not.toContain(part);
  const onwards = await browser.press(before, 'Change to hobby');
  expect(linkOf(onwards.text).startsWith(`${provider.url}/pay/`)).toBe(true);
  const begun = await browser.open('/account/settings');
  for (const part of ['You have started to buy this plan', 'Continue with hobby', 'Change to studio'])
    expect(begun.text).toContain(part);
  expect(linkOf((await browser.press(begun, 'Continue with hobby')).text)).toBe(linkOf(onwards.text));
  await fetch(`${linkOf(onwards.text)}/pay`, { method: 'POST', redirect: 'manual' });
  // Back from there at once, before anybody else has told or asked.
  const after = await browser.open('/account/settings');
  for (const part of ['Active, paid', 'Change to studio', 'Manage']) expect(after.text).toContain(part);
  expect(after.text).not.toContain('Change to hobby');
  const managing = await browser.press(after, 'Manage');
  expect(linkOf(managing.text).startsWith(`${provider.url}/portal/`)).toBe(true);
});

test('a plan is bought by its own button, whatever its name', async () => {
  const { browser } = await fixture.newSignedIn();
  const onwards = await browser.press(await browser.open('/account/settings'), 'Change to manage');
  expect(linkOf(onwards.text).startsWith(`${provider.url}/pay/`)).toBe(true);
});

test('an unavailable plan is refused on the page too, and visitors must sign in', async () => {
  const { browser } = await fixture.newSignedIn();
  const page = await browser.open('/account/settings');
  const forged = { ...page, text: page.text.replace('/account/plan/hobby', '/account/plan/shop') };
  expect((await browser.press(forged, 'Change to hobby')).status).toBe(501);
  const strange = await fixture.browser().go('POST', '/account/plan/hobby', {});
  expect(strange.text).not.toContain('/pay/');
});

test('without metering the page does not mention plans', async () => {
  const { browser } = await unmetered.newSignedIn();
  expect((await browser.open('/account/settings')).text).not.toContain('<h2>Plan</h2>');
});
