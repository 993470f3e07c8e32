/** The documentation over the wire: every page, every link, and nothing that runs. */
import { afterAll, expect, test } from 'vitest';
import { catalog } from '#runtime/errors.ts';
import { routesOf } from '#test/api/samples.ts';
import { createPeopleFixture } from '#test/people/fixture.ts';
import { markdownHtml } from '#web/markdown.ts';

const fixture = await createPeopleFixture();
afterAll(() => fixture.close());
const { anyone } = fixture;
const accept = 'text/html,*/*;q=0.8';
const open = (path: string) => anyone('GET', path, { headers: { accept } });
const attributes = (text: string, name: string) =>
  [...text.matchAll(new RegExp(` ${name}="([^"]*)"`, 'g'))].map(([, value = '']) => value);

/** Every page that links lead to from `/docs`, with its text. */
async function crawl() {
  const pages = new Map<string, string>();
  const waiting = ['/docs'];
  for (const path of waiting) {
    const answer = await open(path);
    expect([path, answer.status, answer.headers.get('content-type')]).toEqual([path, 200, 'text/html; charset=utf-8']);
    expect(answer.headers.get('content-security-policy')).toMatch(
      /^default-src 'none'; style-src ('sha256-\S+' ?)+; img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'$/,
    );
    expect(answer.headers.get('set-cookie')).toBeNull();
    pages.set(path, answer.text);
    const next = attributes(answer.text, 'href').map((href) => href.split('#', 1)[0] ?? '');
    for (const one of new Set(next)) if (/^\/docs(\/|$)/.test(one) && !waiting.includes(one)) waiting.push(one);
  }
  return pages;
}

test('every link of the documentation leads to a page and a place that exist', async () => {
  const pages = await crawl();
  expect(pages.size).toBeGreaterThan(35);
  const broken: string[] = [];
  const asked = new Map<string, number>();
  for (const [path, text] of pages) {
    expect(text).toMatch(/^<!doctype html>\n<html lang="en">/);
    expect(text).not.toMatch(/<script|\son\w+="|="javascript:|⟦/);
    expect(Buffer.byteLength(text)).toBeLessThan(150_000);
    for (const href of [...attributes(text, 'href'), ...attributes(text, 'src')]) {
      const [page = '', fragment] = href.split('#', 2);
      if (/^(https?|data):/.test(page)) continue;
      const target = page === '' ? text : pages.get(page);
      if (fragment !== undefined && target && !target.includes(` id="${fragment}"`)) broken.push(`${path}: ${href}`);
      if (target !== undefined) continue;
      if (!asked.has(page)) asked.set(page, (await open(page)).status);
      // Signing in comes before the account.
      if (asked.get(page) !== 200 && page !== '/account') broken.push(`${path}: ${href}`);
    }
  }
  expect(broken).toEqual([]);
});

test('the documentation has every operation, every error code and every page of the skill', async () => {
  const pages = [...(await crawl())].map(([, text]) => text).join('\n');
  const document = (await anyone('GET', '/openapi.json')).body;
  for (const { operation } of routesOf(document)) expect(pages).toContain(` id="${operation.operationId}"`);
  for (const code of Object.keys(catalog)) expect(pages).toContain(`<section id="${code}"`);
  expect(pages).toContain(`${fixture.config.baseUrl}/mcp`);
});

test('an unchanged page is not sent twice, and old addresses redirect', async () => {
  const { headers } = await open('/docs/tour');
  const again = await anyone('GET', '/docs/tour', { headers: { 'if-none-match': headers.get('etag') ?? '' } });
  expect([again.status, again.text]).toEqual([304, '']);
  const moved = async (path: string) => {
    const { status, headers } = await fetch(`${fixture.url}${path}`, { redirect: 'manual', headers: { accept } });
    return [status, headers.get('location')];
  };
  expect(await moved('/docs/')).toEqual([308, '/docs']);
  expect(await moved('/errors')).toEqual([303, '/docs/errors']);
  expect((await anyone('GET', '/errors')).body.errors.not_found.status).toBe(404);
  for (const path of [
    '/docs/nothing',
    '/docs/../package.json',
    '/docs/%2e%2e/package.json',
    '/docs/mails/../tour.md',
    '/docs/decisions/x',
  ])
    expect([path, (await open(path)).status]).toEqual([path, 404]);
});

test('Markdown becomes no HTML but ours', () => {
  const hostile = [
    '<script>alert(1)</script>',
    '<img src=x onerror=alert(1)>',
    'a <b onclick="x">b</b>',
    '[a](javascript:alert(1)) [b](data:text/html,x) [c]( javascript:alert(1) )',
    '[d](https://good.example/x) [d](//evil.example/x) ![e](https://evil.example/x.png "t\\"x")',
    '`<i>` **<u>** ~~<s>~~',
    '# <h1 id="x" onload=x>',
    '| <td> |\n| --- |\n| <script> |',
    '```"><script>\n</code></pre><script>\n```',
    '<!-- a comment --><iframe src="x">',
  ].join('\n\n');
  const { markup } = markdownHtml(hostile).body;
  const elements = new Set([...markup.matchAll(/<\/?([a-z]\w*)/gi)].map(([, name]) => name));
  expect([...elements].sort()).toEqual([
    'a',
    'code',
    'del',
    'div',
    'h1',
    'p',
    'pre',
    'strong',
    'table',
    'tbody',
    'td',
    'th',
    'thead',
    'tr',
  ]);
  expect(attributes(markup, 'href')).toEqual(['https://good.example/x']);
  expect(markup).not.toContain('a comment');
});
