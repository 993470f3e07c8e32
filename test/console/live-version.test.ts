/**
 * What an owner reads about the version that is live, and about one that failed.
 * @module-tag chromium
 */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderManifest } from '#providers/manifest.ts';
import { createSite } from '#test/api/fixture.ts';
import { addVersion, type ConsoleFixture, createConsoleFixture } from './fixture.ts';

let fixture: ConsoleFixture;
beforeAll(async () => {
  fixture = await createConsoleFixture();
});
afterAll(() => fixture?.close());

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
  expect(restored.text).toContain('Kept, but not in the restored version');
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
  const [source] = heads as [string];
  const [commit] = (await deps.repositories?.commits(site.id, 'source', { from: null, to: source, limit: 1 })) ?? [];
  expect(text).toContain(`>Version 3</a></strong><small>${commit?.subject}</small>`);
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

test('pages name a page by its title, and what of it waits for words', async () => {
  const { owner, site } = await fixture.newBusySite('The joinery');
  const { deps } = fixture;
  const html = '<title>Oak &amp; ash</title><svg><title>A leaf</title></svg><p>[[Phone number]]</p>';
  const page = await deps.store.put(Buffer.from(html));
  const files = [{ path: 'index.html', sha256: page.sha256, bytes: page.bytes }];
  const { sha256 } = await deps.store.put(renderManifest(files));
  const live = `update deployment set manifest_sha256 = ? where site_id = ? and status = 'live'`;
  await deps.em().execute(live, [sha256, site.id]);
  const { text } = await owner.browser.open(`/account/sites/${site.id}/comments`);
  expect(text).toContain('>Oak &#38; ash</a> <small>Home page</small></h2>');
  const overview = await owner.browser.open(`/account/sites/${site.id}`);
  expect(overview.text).toContain(`<li>“[[Phone number]]” on <a href="${site.address}/"`);
});
