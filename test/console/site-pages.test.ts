/**
 * Pages of a site in Chromium: its versions and comments in each way, its builds, and hostile words.
 * `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createSite } from '#test/api/fixture.ts';
import { violationsOf } from '#test/web/axe.ts';
import { openLight } from '#test/web/looks.ts';
import { type ConsoleFixture, createConsoleFixture, hostile } from './fixture.ts';
import { follow, notice, press, typeInto, type Way, walk, ways } from './journeys.ts';

let fixture: ConsoleFixture;
beforeAll(async () => {
  fixture = await createConsoleFixture();
});
afterAll(() => fixture?.close());

const slow = { timeout: 60_000 };

/** The console as its owner sees it in this way. */
const open = async (owner: { email: string }, path: string, way: Way): Promise<Page> =>
  walk(await fixture.open(owner, path, way), way);

test.each(ways)('an owner reads why a build failed, and restores a version ($name)', slow, async (way) => {
  const { owner, site } = await fixture.newBusySite('The joinery');
  const page = await open(owner, '/account', way);
  await follow(page, 'The joinery');
  await page.getByRole('heading', { name: 'Version 3 could not be published' }).waitFor();
  await page.getByText('Visitors still see version 2.').waitFor();
  expect(await page.getByRole('region', { name: 'Build log' }).textContent()).toContain('[build] version 3');
  await press(page, 'Restore version 1');
  expect(await notice(page)).toBe('Version 1 is live again.');
  const { items: deployments } = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body;
  expect(deployments.find(({ status }: { status: string }) => status === 'live').number).toBe(1);
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
  expect(items[0]).toMatchObject({ action: 'deployment.restored', via: { kind: 'person' } });
  await page.context().close();
});

test.each(ways)('an owner answers, resolves and reopens a comment in their own name ($name)', slow, async (way) => {
  const { owner, site, thread } = await fixture.newBusySite('The joinery');
  const page = await open(owner, `/account/sites/${site.id}/comments`, way);
  await typeInto(page, 'Reply', '   ');
  await press(page, 'Send');
  expect(await page.getByRole('alert').textContent()).toMatch(/message/i);
  await typeInto(page, 'Reply', 'It is lighter now.');
  await press(page, 'Send');
  expect(await notice(page)).toBe('Your reply is sent.');
  await press(page, 'Resolve');
  await follow(page, 'Resolved');
  await press(page, 'Reopen');
  expect(await notice(page)).toBe('The comment is open again.');
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/comments`)).body;
  expect(items).toHaveLength(1);
  expect(items[0]).toMatchObject({ id: thread.id, status: 'open' });
  expect(items[0].messages.at(-1)).toMatchObject({ author_kind: 'owner', body: 'It is lighter now.' });
  await page.context().close();
});

test('an owner publishes changes, and follows the build to its end', slow, async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner, { title: 'The bakery', template: 'blank' });
  const page = await fixture.open(owner, `/account/sites/${site.id}`);
  await press(page, 'Publish');
  await page.getByRole('heading', { name: 'Version 1 is on its way' }).waitFor();
  expect(await page.getByRole('status').first().textContent()).toContain('is being built');
  expect(await violationsOf(page, page, true)).toEqual([]);
  const em = fixture.deps.em();
  const { id } = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items[0];
  await em.execute(`insert into build_log (deployment_id, seq, text) values (?, 0, 'Rendering pages')`, [id]);
  await page.getByText('Rendering pages').waitFor();
  await em.execute(`update deployment set status = 'cancelled', finished_at = ? where id = ?`, [
    fixture.clock.now(),
    id,
  ]);
  await page.getByText('Cancelled').waitFor();
  await page.context().close();
});

test('pages with hostile words fit a phone, pass axe, and run none of them', async () => {
  const { owner, site } = await fixture.newBusySite(hostile);
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body;
  const tabs = ['', '/visitors', '/comments', '/history', `/versions/${items[0].id}`];
  const page = await fixture.open(owner, '/account');
  for (const path of ['/account', '/account/agents', ...tabs.map((tab) => `/account/sites/${site.id}${tab}`)]) {
    await openLight(page, `${fixture.here}${path}`);
    for (const width of [390, 1280]) {
      await page.setViewportSize({ width, height: 900 });
      await fixture.keep(page, `hostile-${path.split('/').at(-1)?.slice(0, 12)}-${width}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
      expect([path, width, ...(await violationsOf(page, page, true))]).toEqual([path, width]);
    }
    expect(await page.title()).not.toBe('pwned');
    expect(await page.locator('img[onerror], main script').count()).toBe(0);
  }
  await page.context().close();
}, 60_000);
