/** A site with a file of every sort, and one site in every state. */
import { afterAll } from 'vitest';
import { type Ask, ask, createFixture, type Fixture } from './fixture.ts';

export const page = (title: string) => `<!doctype html><title>${title}</title><p>${title}</p>`;
export const long = `<!doctype html><title>Long</title>${'<p>The same words, again and again.</p>'.repeat(100)}`;

/** `shop` has pages and assets, `bare` one page alone; `soon` has nothing live, `closed` is archived. */
export async function createShops(): Promise<Fixture> {
  const fixture = await createFixture();
  await fixture.publish('shop', {
    'index.html': page('Front'),
    'about.html': page('About'),
    'blog/index.html': page('Blog'),
    'blog/first.html': page('First'),
    'both.html': page('Both, the page'),
    'both/index.html': page('Both, the folder'),
    plain: 'no extension',
    '.well-known/apple-app-site-association': '{}',
    '.well-known/atproto-did': 'did:plc:abc',
    'long.html': long,
    'empty.txt': '',
    '404.html': page('Nothing here'),
    'café/menü.html': page('Menü'),
    'a b/100% (true)/index.html': page('Odd'),
    '_astro/index.DxY3_a1b.css': `body{color:red}${'/* filler */'.repeat(50)}`,
    '_astro/photo.C1x2AbCd_Z1abc2.webp': Buffer.from([1, 2, 3, 4]),
    '_astro/plain.css': 'a{}',
    'logo.svg': '<svg xmlns="http://www.w3.org/2000/svg"/>',
    'data.json': '{}',
    'feed.xml': '<rss/>',
    'script.js': 'void 0',
    'font.woff2': Buffer.from([0]),
    'strange.qqq': 'x',
  });
  await fixture.addSite('soon');
  await fixture.publish('bare', { 'index.html': page('Bare') });
  const closed = await fixture.publish('closed', { 'index.html': page('Closed') });
  await fixture.db.query(`update site set status = 'archived', archived_at = created_at where id = $1`, [
    closed.siteId,
  ]);
  return fixture;
}

/** These sites behind an edge on `port`, and requests to `shop`. They close after the file's tests. */
export async function useShops() {
  const fixture = await createShops();
  afterAll(() => fixture.close());
  const { port } = await fixture.openEdge();
  const shop = (path: string, options: Ask = {}) => ask(port, path, { host: 'shop.sites.test', ...options });
  return { fixture, port, shop };
}
