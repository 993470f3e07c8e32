import { expect, test } from 'vitest';
import { parseRedirectsFile } from '#providers/redirects/file.ts';
import { createRedirectTable } from '#providers/redirects.ts';
import { faultOf } from './fault.ts';

const origin = 'http://shop.sites.test';

test('_redirects has lines of path, target and status, with comments', () => {
  const file =
    '\uFEFF# moved\r\n/a   /b\r\n\n/c\thttps://x.example/ 302 # temporary\n/d /e#part 308\n/gone 410\n/f/* /g/:splat 301!\n/app/* /index.html 200\n/b/:year/:slug /p/:slug\n';
  expect(parseRedirectsFile(Buffer.from(file), origin)).toEqual([
    { from: '/a', to: '/b', status: 301 },
    { from: '/c', to: 'https://x.example/', status: 302 },
    { from: '/d', to: '/e#part', status: 308 },
    { from: '/gone', status: 410 },
    { from: '/f/*', to: '/g/:splat', status: 301 },
    { from: '/app/*', to: '/index.html', status: 200 },
    { from: '/b/:year/:slug', to: '/p/:slug', status: 301 },
  ]);
});

test.each([
  ['# one\n\n/a /b\n/c javascript:x', 'Line 4 of _redirects has a target that is neither'],
  ['/a /b 200!', 'Line 1 of _redirects has the status 200!'],
  ['/a /b 404', 'Line 1 of _redirects has the status 404'],
  ['/a https://evil.example/ 200', 'its target is not a path of this site'],
  ['/a //evil.example/ 200', 'a different host, without a scheme'],
  ['/a/* https://evil.example/:splat 200', 'its target is not a path of this site'],
  ['/a /b?x=1 200', 'has a query or fragment'],
  ['/a /.well-known/acme-challenge/x 200', 'which the platform answers itself'],
  ['/a /.WELL-KNOWN/%61cme-challenge/x 200', 'which the platform answers itself'],
  ['/.well-known/acme-challenge/* /x 200', 'which the platform answers itself'],
  ['/a /b/* 301', 'has a * in its target'],
  ['/a https://x.example/?q=* 301', 'has a * in its target'],
  ['/a/:b /c/:d', 'uses :d, which its path does not have'],
  ['/a/:b /c?d=:e', 'uses :e, which its path does not have'],
  ['/:a/:a /c', 'uses a placeholder twice'],
  ['/:splat/a /c', 'uses a placeholder twice, or the name :splat'],
  ['/:slug.html /c', 'only part of a segment'],
  ['/:a /c\n/:b /d', 'has the same path as line 1'],
  ['/:a /x/:a\n/x/:b /:b', 'creates a loop'],
  [`${'/:a'.replace('a', 'b')}${'/c'.repeat(20)} /d`, 'more than 20 segments'],
  [`${'/c'.repeat(21)}/* /d`, 'more than 20 segments'],
  [Array.from({ length: 101 }, (_, n) => `/${n}/:a /d`).join('\n'), 'the limit is 100 such rules'],
  ['/a /b 301 Country=de', 'Line 1 of _redirects has text after'],
  ['/a id=:id /b 301', 'Line 1 of _redirects has text after'],
  ['/a /b soon', 'Line 1 of _redirects does not end with a status'],
  ['/a', 'Line 1 of _redirects has no target'],
  ['/a /b\n/b /a', 'Line 1 of _redirects creates a loop'],
  ['/a /b\n/a /c', 'Line 2 of _redirects has the same path as line 1 of _redirects: /a.'],
])('the file %j is refused with the line', (file, words) => {
  expect(faultOf(() => parseRedirectsFile(Buffer.from(file), origin))).toContain(words);
});

test('a binary or oversized file is refused', () => {
  expect(faultOf(() => parseRedirectsFile(Buffer.from([0xff, 0xfe]), origin))).toContain('is not UTF-8 text');
  expect(faultOf(() => parseRedirectsFile(Buffer.alloc(5 * 1024 * 1024, '#'), origin))).toContain(
    'is larger than 4 MiB',
  );
});

test('the weight of a list counts the memory of its folders', () => {
  const weightOf = (path: string) => {
    const file = Array.from({ length: 2_000 }, (_, n) => `/${n}${path} /d`).join('\n');
    return createRedirectTable(parseRedirectsFile(Buffer.from(file), origin)).weight;
  };
  expect(weightOf(`${'/a'.repeat(19)}/*`)).toBeGreaterThan(2_000 * 20 * 200);
  expect(weightOf('')).toBeLessThan(2_000 * 1_000);
});

test('a line of a million comments is read at once', () => {
  // A line separator ends a line only for regular expressions.
  const file = `/a /b${' #'.repeat(1_000_000)}\u2028`;
  expect(parseRedirectsFile(Buffer.from(file), origin)).toEqual([{ from: '/a', to: '/b', status: 301 }]);
});
