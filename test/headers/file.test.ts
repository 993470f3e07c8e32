import { expect, test } from 'vitest';
import { cappedForPages } from '#edge/content/cache-control.ts';
import { admitOverlay } from '#edge/content/review-policy.ts';
import { headerNames, parseHeadersFile } from '#providers/headers/file.ts';
import { createHeaderTable } from '#providers/headers.ts';
import { AppError } from '#runtime/errors.ts';
import { quickest } from '#test/stack/quickest.ts';

/** What `invalid_headers` says, or `fine`. */
function faultOf(file: string | Buffer): string {
  try {
    parseHeadersFile(Buffer.from(file));
  } catch (error) {
    if (error instanceof AppError && error.code === 'invalid_headers') return error.message;
    throw error;
  }
  return 'fine';
}
const found = (file: string, path: string) =>
  Object.fromEntries(createHeaderTable(parseHeadersFile(Buffer.from(file))).find(path)?.fields ?? []);

test('_headers has paths, fields below them, and comments', () => {
  const file =
    '\uFEFF# all\r\n/*\r\n  X-Frame-Options: DENY\n  # inside\n\n/a\n\tLink: </x>; rel=preload\n  link: </y>; rel=preload\n/*\n  Referrer-Policy: no-referrer\n';
  expect(parseHeadersFile(Buffer.from(file))).toEqual([
    {
      path: '/*',
      fields: new Map([
        ['x-frame-options', 'DENY'],
        ['referrer-policy', 'no-referrer'],
      ]),
    },
    { path: '/a', fields: new Map([['link', '</x>; rel=preload, </y>; rel=preload']]) },
  ]);
  for (const name of headerNames) expect(faultOf(`/a\n  ${name.toUpperCase()}: 1`)).toBe('fine');
});

const rules = (count: number) => Array.from({ length: count }, (_, n) => `/${n}\n  link: x\n`).join('');

test.each([
  ['/a\n  Set-Cookie: a=b', 'Line 2 of _headers sets the header set-cookie, which sites cannot set'],
  ...[
    'location',
    'content-type',
    'content-length',
    'content-encoding',
    'transfer-encoding',
    'connection',
    'host',
    'date',
    'etag',
    'vary',
    'www-authenticate',
    'strict-transport-security',
    'clear-site-data',
    'access-control-allow-credentials',
    'service-worker-allowed',
    'x-anything',
    ':status',
    'link x',
    'link\u0000',
    '__proto__',
  ].map((name): [string, string] => [`/a\n  ${name}: 1`, 'Line 2 of _headers']),
  ['/a\n  link: a\u0000b', 'is not printable ASCII'],
  ['/a\n  link: a\u0085set-cookie: b', 'is not printable ASCII'],
  ['/a\n  link: a\u2028set-cookie: b', 'is not printable ASCII'],
  ['/a\n  link: a\u010aset-cookie: b', 'is not printable ASCII'],
  ['/a\n  link: a\rset-cookie: b', 'Line 3 of _headers sets the header set-cookie'],
  ['/a\n  link: a\u000bb', 'is not printable ASCII'],
  ['/a\n  link: é', 'is not printable ASCII'],
  ['/a\n  link:', 'sets link to nothing'],
  ['/a\n  : x', 'is neither a path nor a header'],
  ['/a\n  no colon', 'is neither a path nor a header'],
  ['  link: x', 'Line 1 of _headers is not below a path'],
  ['https://other.example/a\n  link: x', 'Line 1 of _headers is not below a path'],
  ['//evil.example/\n  link: x', 'begins with two slashes'],
  ['/a?b\n  link: x', 'has a query or fragment'],
  ['/a b\n  link: x', 'a character that is not allowed'],
  ['/a%2fb\n  link: x', 'a character that is not allowed'],
  ['/a\\b\n  link: x', 'a character that is not allowed'],
  ['/a%zz\n  link: x', 'an invalid % escape'],
  ['/:a/:a\n  link: x', 'uses a placeholder twice'],
  ['/:a.css\n  link: x', 'only part of a segment'],
  ['/:a/*.css\n  link: x', 'has a placeholder and a *'],
  [`/${'a'.repeat(300)}\n  link: x`, 'longer than 256 characters'],
  [`/a\n  link: ${'x'.repeat(4_097)}`, 'longer than 4096 bytes'],
  [
    `/a\n  link: ${'x'.repeat(4_000)}\n/b\n  permissions-policy: ${'x'.repeat(4_090)}\n/c\n  x-robots-tag: ${'x'.repeat(200)}`,
    'the limit is 8192',
  ],
  [rules(101), 'is rule 101; the limit is 100 rules'],
  [Buffer.alloc(65 * 1024, '#'), 'is larger than 64 KiB'],
  [Buffer.from([0xff, 0xfe]), 'is not UTF-8 text'],
])('the file %j is refused', (file, words) => {
  expect(faultOf(file)).toContain(words);
});

test.each([
  ['/about', 'about', true],
  ['/about', 'about/', true],
  ['/about', 'About', false],
  ['/caf%C3%A9', 'café', true],
  ['/*', '', true],
  ['/*', 'a/b.css', true],
  ['/blog/*', 'blog', true],
  ['/blog/*', 'blog/a/b', true],
  ['/blog/*', 'blogs', false],
  ['/*.svg', 'a/b.svg', true],
  ['/*.svg', 'a.svg.html', false],
  ['/a/*/c*e', 'a/b/cde', true],
  ['/a/*/c*e', 'a/c', false],
  ['/ab*ba', 'aba', false],
  ['/:lang/about', 'de/about', true],
  ['/:lang/about', 'de/x/about', false],
  ['/:lang/about', '/about', false],
  ['/:lang/*', 'de/x/about', true],
  ['/:lang/*', '', false],
])('the pattern %s applies to "%s": %s', (pattern, path, applies) => {
  expect(found(`${pattern}\n  link: x`, path)).toEqual(applies ? { link: 'x' } : {});
});

test('of several rules for a path the later one decides each field', () => {
  const file = '/*\n  cache-control: a\n  link: x\n/a\n  cache-control: b\n/a*\n  x-robots-tag: none\n';
  expect(found(file, 'a')).toEqual({ 'cache-control': 'b', link: 'x', 'x-robots-tag': 'none' });
  expect(found(file, 'b')).toEqual({ 'cache-control': 'a', link: 'x' });
});

test('a hundred hostile patterns take a few milliseconds, and long paths none', async () => {
  const pieces = (n: number) => `/${'*aab'.repeat(40)}*${n}`;
  const file = Array.from({ length: 100 }, (_, n) => `${pieces(n)}\n  link: x\n`).join('');
  const table = createHeaderTable(parseHeadersFile(Buffer.from(file)));
  expect(await quickest(50, async () => void table.find('aa'.repeat(512)))).toBeLessThan(50);
  expect(table.find('a'.repeat(1_025))).toBeUndefined();
});

test.each([
  ['public, max-age=31536000, immutable', 'public, max-age=60'],
  ['max-age=30', 'max-age=30'],
  ['MAX-AGE="9999", S-MAXAGE=9999', 'max-age=60, s-maxage=60'],
  ['max-age=99999999999999999999', 'max-age=0'],
  ['public', 'public, max-age=0'],
  ['no-store', 'no-store'],
  ['no-cache, stale-while-revalidate=86400', 'no-cache'],
  ['stale-if-error=86400, x=y', 'max-age=0'],
  ['max-age=60, max-age=3600', 'max-age=60'],
  ['max-age', 'max-age=0'],
])('a page with cache-control %s is kept at most a minute', (field, capped) => {
  expect(cappedForPages(field)).toBe(capped);
});

test.each([
  ["default-src 'none'", "default-src 'none'; script-src 'nonce-N'; style-src 'nonce-N'; frame-src http://api.test"],
  ["script-src 'self'; frame-src 'none'", "script-src 'self' 'nonce-N'; frame-src http://api.test"],
  [
    "script-src 'unsafe-inline'; style-src 'unsafe-inline'",
    "script-src 'unsafe-inline' 'self'; style-src 'unsafe-inline'",
  ],
  ["script-src 'unsafe-inline' 'strict-dynamic'", "script-src 'unsafe-inline' 'strict-dynamic' 'nonce-N'"],
  ['child-src x.test; sandbox', 'child-src x.test; frame-src x.test http://api.test'],
  ["img-src 'self', SCRIPT-SRC-ELEM 'none'; script-src-elem *", "img-src 'self', script-src-elem 'nonce-N'"],
  ["frame-ancestors 'none'", "frame-ancestors 'none'"],
])('the policy %s admits the review overlay, and nothing else', (policy, admitted) => {
  expect(admitOverlay(policy, { nonce: 'N', frameOrigin: 'http://api.test' })).toBe(admitted);
});
