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
  await page.getByText('Visitors still see version 2.').waitFor();
  await page.getByText('The site’s code has an error.').waitFor();
  expect(await page.locator('#failed pre.log').first().isVisible()).toBe(false);
  expect(await page.getByRole('region', { name: 'End of the build log' }).textContent()).toContain('[build] version 3');
  await follow(page, 'Read the whole log');
  expect(await page.getByRole('region', { name: 'Build log' }).textContent()).toContain('[build] version 3');
  await page.goBack();
  await follow(page, 'Restore version 1');
  await page.getByText('in place of version 2: what was published after it is taken off').waitFor();
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
  // The bars of the week and their words are as wide as the picture above them.
  for (const { width } of looks) {
    await page.setViewportSize({ width, height: 900 });
    const widths = `['.shot', '.chart svg', '.chart figcaption'].map((one) => document.querySelector('.cards ' + one).getBoundingClientRect().width)`;
    const [pictured = 0, ...drawn] = await page.evaluate<number[]>(widths);
    expect([width, drawn]).toEqual([width, [pictured, pictured]]);
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

test('an archived site is closed on its pages, until its Overview puts it online', async () => {
  const { owner, site } = await fixture.newBusySite('The joinery');
  const { browser, call } = owner;
  const overview = `/account/sites/${site.id}`;
  await call('POST', `/v1/sites/${site.id}/archive`);
  const home = (await browser.open('/account')).text;
  expect(home).toContain('Archived: visitors see that the site is closed');
  expect(home).not.toContain('Live since');
  const closed = await browser.open(overview);
  for (const words of ['This site is archived', 'they see version 2.', 'Last live version', '>Archived</span>'])
    expect(closed.text).toContain(words);
  for (const words of ['is live', '>Live<', 'Everything is published', 'still see'])
    expect(closed.text).not.toContain(words);
  const online = await browser.press(closed, 'Put it online');
  expect(online.text).toContain('The site is online again.');
  expect(online.text).toContain('Version 2 is live');
  expect((await browser.open('/account')).text).toContain('Live since');
});

test('pages name who restored a version, and offer a comparison where there is another', async () => {
  const { owner, site } = await fixture.newBusySite('The joinery');
  const guest = await fixture.newSignedIn('Guest');
  await fixture.deps
    .em()
    .execute('update deployment set created_by_id = ? where site_id = ?', [guest.accountId, site.id]);
  const overview = `/account/sites/${site.id}`;
  expect((await owner.browser.open(overview)).text).not.toContain('by you');
  const { items } = (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body;
  const [newer, older] = [2, 1].map((wanted) => items.find(({ number }: { number: number }) => number === wanted));
  const asked = await owner.browser.open(`${overview}/versions/${older.id}`);
  const restored = await owner.browser.press(asked, 'Restore version 1');
  expect(restored.text).toContain('Visitors see version 1, which has been restored since.');
  expect(restored.text).toMatch(/Since <time [^>]*>\d+ \w+ \d{4} at [^<]*<\/time> \([^)]*\), restored by you\./);
  expect(restored.text).toContain('No longer live');
  expect(restored.text).not.toContain('Earlier version');
  const { text } = await owner.browser.open('/account');
  expect(text).toMatch(/Live since <time [^>]*>[^<]*<\/time> \([^)]*\), restored by /);
  const version = async (siteId: string, id: string) =>
    (await owner.browser.open(`/account/sites/${siteId}/versions/${id}`)).text.includes('>Compare</button>');
  const history = await owner.browser.open(`${overview}/history`);
  expect(history.text).toContain(`<a href="${overview}/versions/${older.id}">Made version 1 live again.</a>`);
  expect(await version(site.id, newer.id)).toBe(true);
  const single = await createSite(owner, { template: 'blank' });
  expect(await version(single.id, await addVersion(fixture, single.id, 'live'))).toBe(false);
});

test('a version that failed without a newer change offers no plain publish', async () => {
  const { owner, site } = await fixture.newBusySite('src/pages/index.astro:3:7: Unexpected "<"');
  const { deps } = fixture;
  const em = deps.em();
  const open = async () => (await owner.browser.open(`/account/sites/${site.id}`)).text;
  expect(await open()).toContain('<button>Publish</button>');
  const heads = await Promise.all(
    (['source', 'content'] as const).map((name) => deps.repositories?.head(site.id, name)),
  );
  const failed = `where site_id = ? and status = 'failed'`;
  const change = `update deployment set source_commit = ?, content_commit = ? ${failed}`;
  await em.execute(change, [...heads.map((head) => head ?? null), site.id]);
  const text = await open();
  for (const words of [
    'The site’s code has an error in src/pages/index.astro, line 3.',
    'Nothing has changed since, so publishing again would fail in the same way.',
    'and nothing has changed since.',
  ])
    expect(text).toContain(words);
  for (const button of ['>Publish</button>', '>Publish again</button>']) expect(text).not.toContain(button);
  const error = JSON.stringify({ code: 'internal', message: 'Something broke.', retryable: true });
  await em.execute(`update deployment set error = ? ${failed}`, [error, site.id]);
  const again = await open();
  expect(again).toContain('The failure was on our side');
  expect(again).toContain('>Publish again</button>');
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
      const tabs = `JSON.stringify([...document.querySelectorAll('.tabs li a')].map((one) => [one.offsetLeft, one.offsetTop]))`;
      places.add(await page.evaluate<string>(tabs));
    }
    const [one] = places;
    expect([width, ...places]).toEqual([width, one]);
    const shown = await page.evaluate<string>(`getComputedStyle(document.querySelector('p.empty')).display`);
    expect([width, shown]).toEqual([width, 'block']);
  }
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
