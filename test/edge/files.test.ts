import { describe, expect, test } from 'vitest';
import { useShops } from './shops.ts';

const { shop } = await useShops();

describe('paths of a site', () => {
  test.each([
    ['/', 'Front'],
    ['/index.html', 'Front'],
    ['/index', 'Front'],
    ['/about', 'About'],
    ['/about.html', 'About'],
    ['/blog/', 'Blog'],
    ['/blog/index.html', 'Blog'],
    ['/blog/first', 'First'],
    ['/both', 'Both, the page'],
    ['/both/', 'Both, the folder'],
    ['/about?from=mail&x=%2f..', 'About'],
    ['/caf%C3%A9/men%C3%BC', 'Menü'],
    ['/a%20b/100%25%20(true)/', 'Odd'],
    ['/%61bout', 'About'],
  ])('%s: the page "%s" is served', async (path, title) => {
    const answer = await shop(path);
    expect(answer.status).toBe(200);
    expect(answer.text).toContain(`<title>${title}</title>`);
  });

  test('a file without an extension is served as it is', async () => {
    expect((await shop('/plain')).text).toBe('no extension');
  });

  test.each([
    ['/blog', '/blog/'],
    ['/blog?a=1', '/blog/?a=1'],
    ['/about/', '/about'],
    ['/blog/first/', '/blog/first'],
    ['/a%20b/100%25%20(true)', '/a%20b/100%25%20(true)/'],
  ])('%s redirects (308) to the one address %s', async (path, to) => {
    const answer = await shop(path);
    expect(answer.status).toBe(308);
    expect(answer.headers.location).toBe(to);
    expect(answer.headers['cache-control']).toBe('public, max-age=0, must-revalidate');
  });

  test.each([
    ['//evil.test/', 404],
    ['//blog', 404],
    ['///blog', 404],
    ['/\\evil.test', 400],
    ['/%5cevil.test/..', 400],
    ['/%2f/evil.test', 400],
    ['/.//blog', 400],
  ])('%s never leads to another host', async (path, status) => {
    const answer = await shop(path);
    expect([answer.status, answer.headers.location]).toEqual([status, undefined]);
  });
});

describe('a missing file', () => {
  test.each(['/nothing', '/blog/nothing', '/nothing.html', '/nothing/', '/notes/1.2'])(
    '%s: the site’s own 404.html is served',
    async (path) => {
      const answer = await shop(path, { headers: { 'if-none-match': '*', range: 'bytes=0-1' } });
      expect(answer.status).toBe(404);
      expect(answer.text).toContain('<title>Nothing here</title>');
      expect(answer.headers['content-type']).toBe('text/html; charset=utf-8');
    },
  );

  test('without a 404.html the edge serves its own page', async () => {
    const answer = await shop('/nothing', { host: 'bare.sites.test' });
    expect(answer.status).toBe(404);
    expect(answer.text).toContain('Page not found');
  });

  test.each([
    '/_astro/gone.AbCd1234.js',
    '/_astro/gone',
    '/gone.js',
    '/x/gone.png',
    '/favicon.ico',
    '/a.woff2',
    '/x.php',
  ])('%s is an asset, never answered with HTML', async (path) => {
    for (const host of ['shop', 'bare', 'soon', 'closed', 'nobody']) {
      const answer = await shop(path, { host: `${host}.sites.test` });
      expect(answer.status).toBe(host === 'closed' ? 410 : 404);
      expect(answer.headers['content-type']).toBe('text/plain; charset=utf-8');
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });
});
