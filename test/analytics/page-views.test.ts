/** Page views and visitors: which requests count, and what is recorded of them. */

import { afterAll, expect, test } from 'vitest';
import { createReferrers } from '#edge/analytics/referrers.ts';
import { agents, createAnalyticsFixture, pages, type Site, type View } from './fixture.ts';

const fixture = await createAnalyticsFixture();
afterAll(() => fixture.close());
const owner = await fixture.newCaller();

async function newSite(files: Record<string, string> = pages) {
  const site = await fixture.publish(owner, files);
  const edge = await fixture.openEdge();
  return { site, edge, see: (path: string, view?: View) => fixture.visit(edge, site, path, view) };
}

/** What the owner reads once everything counted was written. */
async function reportOf(edge: { counting: { flush(): Promise<void> } }, site: Site, period?: string) {
  await edge.counting.flush();
  return await fixture.report(owner, site, period);
}

test('page views are counted whatever the response, cached or not', async () => {
  const { site, edge, see } = await newSite();
  const { etag = '' } = await see('/');
  expect((await see('/', { headers: { 'if-none-match': etag } })).status).toBe(304);
  // What wishes something for its connection goes by Node's HTTP.
  await see('/', { headers: { connection: 'close' } });
  await see('/about?utm_source=mail');
  await see('/about');
  await see('/notes/', { userAgent: agents.mobile });
  expect(await reportOf(edge, site)).toMatchObject({
    period: '24h',
    views: 6,
    visitors: 2,
    pages: [
      { path: '/', views: 3 },
      { path: '/about', views: 2 },
      { path: '/notes/', views: 1 },
    ],
    devices: [
      { device: 'desktop', views: 5 },
      { device: 'mobile', views: 1 },
    ],
  });
});

test('requests that are no page view by a person are not counted', async () => {
  const { site, edge, see } = await newSite({ ...pages, _redirects: '' });
  await see('/style.css');
  await see('/missing');
  await see('/notes');
  await see('/', { method: 'HEAD' });
  await see('/', { method: 'POST' });
  await see('/', { headers: { range: 'bytes=0-3' } });
  await see('/', { headers: { 'sec-purpose': 'prefetch;prerender' } });
  await see('/', { headers: { purpose: 'prefetch' } });
  await see('/', { headers: { 'sec-fetch-dest': 'iframe' } });
  await see('/', { headers: { 'sec-fetch-dest': 'image', connection: 'close' } });
  await see('/', { userAgent: agents.robot });
  await see('/', { userAgent: 'curl/8.5.0' });
  await see('/', { userAgent: undefined });
  await see('/', { userAgent: '' });
  await see('/', { headers: { host: fixture.config.baseDomain } });
  await see('/404');
  expect(await reportOf(edge, site)).toMatchObject({ views: 0, visitors: 0, pages: [], devices: [] });
  await see('/', { headers: { 'sec-fetch-dest': 'document' } });
  await see('/', { headers: { 'sec-fetch-dest': 'empty' } });
  expect((await reportOf(edge, site)).views).toBe(2);
});

test('a visitor is one on all edges in a day, by address and browser', async () => {
  const { site, edge, see } = await newSite();
  const another = await fixture.openEdge();
  await see('/');
  await see('/about');
  await fixture.visit(another, site, '/');
  await another.counting.flush();
  expect((await reportOf(edge, site)).visitors).toBe(1);
  await see('/', { from: '127.0.0.2' });
  await see('/', { userAgent: agents.tablet });
  await fixture.visit(another, site, '/', { from: '127.0.0.2' });
  await another.counting.flush();
  expect(await reportOf(edge, site)).toMatchObject({ visitors: 3, views: 6 });
  expect((await reportOf(edge, site, '30d')).visitors).toBe(3);
});

test('visitors are counted separately for each site', async () => {
  const { site, edge, see } = await newSite();
  await see('/');
  const other = await newSite();
  expect((await reportOf(other.edge, other.site)).visitors).toBe(0);
  expect((await reportOf(other.edge, site)).visitors).toBe(0);
  await other.see('/');
  for (const { counting } of [edge, other.edge]) await counting.flush();
  const rows: { sketch: string }[] = await fixture.deps
    .em()
    .execute("select encode(sketch, 'hex') as sketch from view_hour where site_id in (?, ?)", [site.id, other.site.id]);
  // Of two sites nobody can tell that it was the same visitor.
  expect(new Set(rows.map(({ sketch }) => sketch)).size).toBe(2);
});

test.each([
  ['https://www.example.org/post?q=1', 'example.org'],
  ['HTTP://News.Example.COM:8080', 'news.example.com'],
  ['https://example.org.', 'example.org'],
  ['https://user:secret@example.org/', undefined],
  ['https://localhost/', undefined],
  ['http://203.0.113.9:8080/', undefined],
  ['https://3.example.org/', '3.example.org'],
  ['not an address', undefined],
  ['javascript:alert(1)', undefined],
  ['https://exa mple.org/', undefined],
  [`https://${'a.'.repeat(200)}org/`, undefined],
])('of the referrer %s the host is stored: %s', async (referer, host) => {
  const { site, edge, see } = await newSite();
  await see('/', { headers: { referer } });
  expect((await reportOf(edge, site)).referrers).toEqual(host === undefined ? [] : [{ host, views: 1 }]);
});

test('referrers beyond the remembered ones are each counted', async () => {
  const { site, edge, see } = await newSite();
  for (let n = 0; n < 30; n++) await see('/', { headers: { referer: `https://one.example.org/${n}` } });
  const many = createReferrers();
  const of = (referer: string) => many.of({ referer, host: 'shop.example.org' });
  for (const round of [1, 2]) {
    for (let n = 0; n < 1_600; n++) expect(of(`https://h${n}.example.org/${round}`)).toBe(`h${n}.example.org`);
  }
  expect((await reportOf(edge, site)).referrers).toEqual([{ host: 'one.example.org', views: 30 }]);
});

test('a site’s own pages are not referrers', async () => {
  const { site, edge, see } = await newSite();
  const own = `${site.name}.${fixture.config.baseDomain}`;
  await see('/', { headers: { referer: `http://${own}/about` } });
  await see('/', { headers: { referer: `http://${own.toUpperCase()}:4480/`, host: `${own}.:4480` } });
  await see('/', { headers: { referer: `http://${own}.example.org/` } });
  expect((await reportOf(edge, site)).referrers).toEqual([{ host: `${own}.example.org`, views: 1 }]);
});

test('address and country are accepted from trusted proxies only', async () => {
  const site = await fixture.publish(owner, pages);
  const edge = await fixture.openEdge({ trustedProxies: ['127.0.0.2', '10.0.0.0/8'], countryHeader: 'x-country' });
  const through = (from: string, forwarded: string, country: string, path = '/') =>
    fixture.visit(edge, site, path, { from, headers: { 'x-forwarded-for': forwarded, 'x-country': country } });
  await through('127.0.0.2', '203.0.113.7', 'NZ');
  await through('127.0.0.2', '198.51.100.1, 203.0.113.7, 10.1.2.3', 'NZ', '/about');
  await through('127.0.0.2', '203.0.113.8', 'XX');
  await through('127.0.0.2', '203.0.113.8', 'nowhere');
  await through('127.0.0.2', '2001:db8:1:2:3::4', 'DE');
  await through('127.0.0.2', '2001:db8:1:2:ffff::9', 'DE');
  expect(await reportOf(edge, site)).toMatchObject({
    visitors: 3,
    views: 6,
    countries: [
      { country: 'DE', views: 2 },
      { country: 'NZ', views: 2 },
    ],
  });
  await through('127.0.0.3', '203.0.113.9', 'FR');
  await through('127.0.0.3', '203.0.113.10', 'FR');
  const report = await reportOf(edge, site);
  expect(report.visitors).toBe(4);
  expect(report.countries.map(({ country }: { country: string }) => country)).toEqual(['DE', 'NZ']);
});

test('without a country header there are no countries', async () => {
  const { site, edge, see } = await newSite();
  await see('/', { headers: { 'x-country': 'NZ', 'cf-ipcountry': 'NZ' } });
  expect(await reportOf(edge, site)).not.toHaveProperty('countries');
});

test('an archived or unpublished site has no views', async () => {
  const site = await fixture.publish(owner, pages);
  await owner.call('POST', `/v1/sites/${site.id}/archive`);
  const edge = await fixture.openEdge();
  expect((await fixture.visit(edge, site, '/')).status).toBe(410);
  expect((await reportOf(edge, site)).views).toBe(0);
});
