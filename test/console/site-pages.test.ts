/**
 * Pages of a site in Chromium: its versions and comments in each way, its builds, and hostile words.
 * `FRONTAGE_PICTURES=<folder>` keeps pictures.
 * @module-tag chromium
 */
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Rendering } from '#db/renderings/rendering.ts';
import { finishRendering } from '#db/renderings/transitions.ts';
import { type ComparedPage, cardPicture } from '#rules/looks.ts';
import { createSite } from '#test/api/fixture.ts';
import { png } from '#test/git/samples.ts';
import { until } from '#test/stack/until.ts';
import { violationsOf } from '#test/web/axe.ts';
import { inspect, looks, openLight } from '#test/web/looks.ts';
import { addVersion, type ConsoleFixture, createConsoleFixture, hostile } from './fixture.ts';
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
  await page.getByText('Visitors still see version 2: nothing has to be restored.').waitFor();
  await page.getByText('The site’s code has an error.').waitFor();
  expect(await page.locator('#failed pre.log').first().isVisible()).toBe(false);
  expect(await page.getByRole('region', { name: 'End of the build log' }).textContent()).toContain('[build] version 3');
  await follow(page, 'Read the whole log');
  expect(await page.getByRole('region', { name: 'Build log' }).textContent()).toContain('[build] version 3');
  await page.getByText('Visitors still see version 2').waitFor();
  await page.goBack();
  await follow(page, 'Restore version 1');
  await page.getByText('in place of version 2. What was published after it is no longer shown.').waitFor();
  await press(page, 'Restore version 1');
  expect(await notice(page)).toBe('Version 1 is live again.');
  expect(await page.getByRole('heading', { name: 'could not be published' }).count()).toBe(0);
  const { items: deployments } = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body;
  expect(deployments.find(({ status }: { status: string }) => status === 'live').number).toBe(1);
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/history`)).body;
  expect(items[0]).toMatchObject({ action: 'deployment.restored', via: { kind: 'person' } });
  await page.context().close();
});

test.each(ways)('an owner answers, resolves and reopens a comment in their own name ($name)', slow, async (way) => {
  const { owner, site, thread } = await fixture.newBusySite('The joinery');
  const page = await open(owner, `/account/sites/${site.id}/comments`, way);
  const widthShown = `document.querySelector('[alt="The page when the comment was written"]').naturalWidth`;
  await until(
    () => page.evaluate<number>(widthShown),
    (width) => width > 0,
  );
  await typeInto(page, 'Reply', '   ');
  await press(page, 'Send');
  expect(await page.getByRole('alert').textContent()).toMatch(/message/i);
  await typeInto(page, 'Reply', 'It is lighter now.');
  await press(page, 'Send');
  expect(await notice(page)).toBe('Your reply is added to the comment.');
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

test('an owner restores a version older than those of the overview', slow, async () => {
  const { owner, site } = await fixture.newBusySite('The joinery');
  for (let newer = 0; newer < 30; newer++) await addVersion(fixture, site.id, 'retired');
  const page = await fixture.open(owner, `/account/sites/${site.id}`);
  await follow(page, 'Older');
  await page.getByRole('heading', { name: 'Older versions' }).waitFor();
  expect(await violationsOf(page, page, true)).toEqual([]);
  await follow(page, 'Restore version 1');
  await press(page, 'Restore version 1');
  expect(await notice(page)).toBe('Version 1 is live again.');
  await page.context().close();
});

test('an owner publishes changes, and follows the build to its end', slow, async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner, { title: 'The bakery', template: 'blank' });
  const page = await fixture.open(owner, `/account/sites/${site.id}`);
  await press(page, 'Publish');
  await page.getByRole('heading', { name: 'Version 1 is on its way' }).waitFor();
  expect(await page.getByRole('status').first().textContent()).toContain('is being built');
  await page.getByText('Version 1 follows.').waitFor();
  expect(await page.getByRole('button', { name: 'Publish' }).count()).toBe(0);
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

test('an owner sees what a version looks like, and what it changes', { timeout: 120_000 }, async () => {
  const { owner, site } = await fixture.newBusySite('The joinery');
  const { deps, clock } = fixture;
  const page = await fixture.open(owner, '/account');
  const card = () =>
    page.evaluate<[number, string, number]>(
      `(({ offsetWidth, offsetHeight, loading, naturalWidth }) => [offsetWidth / offsetHeight, loading, naturalWidth])(document.querySelector('.cards img'))`,
    );
  const [ratio, loading] = await until(card, ([, , shown]) => shown === 1);
  expect([ratio.toFixed(1), loading]).toEqual([(cardPicture.width / cardPicture.height).toFixed(1), 'lazy']);
  for (const { width } of looks) {
    await page.setViewportSize({ width, height: 900 });
    const widths = `['.shot', '.chart svg', '.chart figcaption'].map((one) => document.querySelector('.cards ' + one).getBoundingClientRect().width)`;
    const [pictured = 0, ...drawn] = await page.evaluate<number[]>(widths);
    // On a desk, the bars of the week and their words are as wide as the picture above them; a phone has it beside the title.
    expect([width, drawn[0] === drawn[1], drawn[0] === pictured]).toEqual([width, true, width > 390]);
    const left = `['.tabs', '.tabs a', 'h1'].map((one) => document.querySelector(one).getBoundingClientRect().left)`;
    const [line, tab, text] = await page.evaluate<number[]>(left);
    expect([width, line, tab]).toEqual([width, text, text]);
  }
  await page.goto(`${fixture.here}/account/sites/${site.id}`);
  await page.getByRole('link', { name: 'Version 1', exact: true }).click();
  await press(page, 'Compare');
  await page.getByRole('heading', { name: 'Version 1 beside version 2' }).waitFor();
  const path = new URL(page.url()).pathname;
  const stranger = await fixture.newBusySite('The bakery');
  await page.getByText('The pages are compared shortly').first().waitFor();
  // The notice stays true where the comparison is done by the time that the page opens.
  expect(await notice(page)).toBe('The comparison was started.');
  const rendering = await deps.em().findOneOrFail(Rendering, { id: path.split('/').at(-1) as string });
  const { sha256 } = await deps.store.put(png);
  const only = { regions: [], width: null, picture: null };
  const picture = { position: 0, width: 1296, height: 400 };
  const pages: ComparedPage[] = [
    { page: '/', change: 'changed', regions: [], width: 390, picture },
    { page: '/new', change: 'added', ...only },
  ];
  const result = { pages, unchanged: ['/about'], pagesLeft: 3 };
  await finishRendering(deps.em(), clock, rendering, { pictures: [sha256], result });
  await page.getByRole('img', { name: 'Home page on a phone, before and after' }).waitFor();
  for (const words of ['New pages', '/about', '3 further pages were not compared.'])
    expect(await page.locator('main').textContent()).toContain(words);
  for (const shown of looks) {
    await page.setViewportSize({ width: shown.width, height: 900 });
    await inspect(page, 'comparison', shown);
  }
  const shop = await createSite(owner, { title: 'The shop', template: 'blank' });
  await addVersion(fixture, shop.id, 'live');
  await fixture.addDraft(owner, shop.id);
  await page.goto(`${fixture.here}/account/sites/${shop.id}`);
  await press(page, 'Compare preview 1 with the live version');
  await page.getByRole('heading', { name: 'Preview 1 beside version 1' }).waitFor();
  const shown = new URL(page.url()).pathname.split('/').at(-1) as string;
  const draft = await deps.em().findOneOrFail(Rendering, { id: shown });
  await finishRendering(deps.em(), clock, draft, { pictures: [], result: { ...result, pages: [], pagesLeft: 0 } });
  await page.getByText('No page looks different.').waitFor();
  await press(page, 'Publish preview 1');
  expect(await notice(page)).toBe('The preview is being published.');
  await page.context().close();
  const other = await fixture.open(stranger.owner, path);
  expect(await other.getByRole('heading', { level: 1 }).textContent()).not.toContain('beside');
  await other.context().close();
});

test('tabs keep their places from page to page, and an empty page one sentence', async () => {
  const owner = await fixture.newSignedIn();
  const site = await createSite(owner, { template: 'blank' });
  const page = await fixture.open(owner, '/account');
  for (const width of [390, 1280]) {
    await page.setViewportSize({ width, height: 900 });
    const places = new Set<string>();
    for (const path of ['', '/history', '/comments']) {
      await page.goto(`${fixture.here}/account/sites/${site.id}${path}`);
      const tabs = `JSON.stringify([...document.querySelectorAll('.tabs li')].map((one) => innerWidth > 1000 ? [one.offsetLeft, one.offsetTop] : one.offsetTop))`;
      places.add(await page.evaluate<string>(tabs));
    }
    const [one] = places;
    expect([width, ...places]).toEqual([width, one]);
    const display = `getComputedStyle(document.querySelector('p.empty')).display`;
    expect([width, await page.evaluate(display)]).toEqual([width, 'block']);
  }
  await page.context().close();
});

test('pages with hostile words fit a phone, pass axe, and run none of them', async () => {
  const { owner, site } = await fixture.newBusySite(hostile);
  const [{ id }] = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items;
  const tabs = ['', '/visitors', '/comments', '/history', `/versions/${id}`];
  const page = await fixture.open(owner, '/account');
  const paths = ['/account', '/account/agents', ...tabs.map((tab) => `/account/sites/${site.id}${tab}`)];
  for (const [at, path] of paths.entries()) {
    await openLight(page, `${fixture.here}${path}`);
    for (const { width } of looks) {
      await page.setViewportSize({ width, height: 900 });
      await fixture.keep(page, `hostile-${path.split('/').at(-1)?.slice(0, 12)}-${width}`);
      expect([path, await page.evaluate('document.documentElement.scrollWidth')]).toEqual([path, width]);
      if ((width === 390) !== (at % 2 === 0)) continue;
      expect([path, width, ...(await violationsOf(page, page, true))]).toEqual([path, width]);
    }
    expect(await page.title()).not.toBe('pwned');
    expect(await page.locator('img[onerror], main script').count()).toBe(0);
  }
  await page.context().close();
}, 60_000);
