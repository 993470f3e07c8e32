import fc from 'fast-check';
import { expect, test } from 'vitest';
import { checkRedirects } from '#providers/redirects/rules.ts';
import {
  createRedirectTable,
  findRedirect,
  locationOf,
  type RedirectRule,
  type RedirectTable,
} from '#providers/redirects.ts';
import { quickest } from '#test/stack/quickest.ts';
import { faultOf } from './fault.ts';

const origin = 'http://shop.sites.test';
const check = (...rules: [from: string, to?: string | undefined, status?: number][]) =>
  checkRedirects(
    rules.map(([from, to, status = 301], index) => ({ name: `Rule ${index + 1}`, from, to, status })),
    origin,
  );
const leads = (rules: RedirectRule[], path: string, query = '') => {
  const match = findRedirect([createRedirectTable(rules)], path);
  return match && locationOf(match, query);
};

test('an exact rule precedes wildcards, and longer wildcards precede shorter ones, in any order', () => {
  const rules = check(
    ['/*', '/all/:splat', 302],
    ['/a/*', 'https://b.example/:splat'],
    ['/a/b/*', '/c/:splat?x=1', 307],
    ['/a/b', '/d', 308],
    ['/all/*', undefined, 410],
    ['/c/*', undefined, 410],
    ['/d', undefined, 410],
  );
  expect(leads(rules, 'a/b')).toBe('/d');
  expect(leads(rules, 'a/b/')).toBe('/d');
  expect(leads(rules, 'a/b/x/y')).toBe('/c/x/y?x=1');
  expect(leads(rules, 'a/bb')).toBe('https://b.example/bb');
  expect(leads(rules, 'a')).toBe('https://b.example/');
  expect(leads(rules, 'z/1')).toBe('/all/z/1');
});

test.each([
  ['/old', '/new', 'old', '?a=1&b=2', '/new?a=1&b=2'],
  ['/old', '/new?c=3#part', 'old', '?a=1', '/new?c=3&a=1#part'],
  ['/old', '/new#part', 'old', '?a=1', '/new?a=1#part'],
  ['/old', '/new', 'old', '?', '/new'],
  ['/old', '/.//evil.example', 'old', '', '/evil.example'],
  ['/caf%C3%A9', '/menü', 'café', '', '/men%C3%BC'],
  ['/café', '/a', 'café', '', '/a'],
  ['/a b', '/x', '', '', undefined],
  ['/f/*', '/search?q=:splat', 'f/a&b=c/d', '', '/search?q=a%26b%3Dc%2Fd'],
  ['/f/*', '/g/:splat/end', 'f/ü?#/2', '', '/g/%C3%BC%3F%23/2/end'],
  ['/f/*', '/g/:splat', 'f/$&$1', '', '/g/%24%26%241'],
  ['/f/*', 'https://x.example/:splat', 'f//evil.example', '', 'https://x.example//evil.example'],
])('%s to %s: /%s%s redirects to %s', (from, to, path, query, location) => {
  const fault = faultOf(() => check([from, to]));
  expect(fault === 'fine' ? leads(check([from, to]), path, query) : undefined).toBe(location);
});

test('no request path redirects from a path rule to another host', () => {
  const rules = check(['/go/*', '/:splat'], ['/q/*', '/p?next=:splat'], ['/s/:a/:b', '/:a/:b?c=:b']);
  const part = fc.oneof(
    fc.string(),
    fc.constantFrom('/', '//', '///evil.example', '\\', '@evil', '%2f', '\t', '..', ':80'),
  );
  const asked = fc.array(part, { maxLength: 6 }).map((parts) => parts.join(''));
  let redirected = 0;
  fc.assert(
    fc.property(
      asked.filter((text) => text.isWellFormed()),
      fc.constantFrom('go/', 'q/', 'go//', 'go///', 's/', 's/x/'),
      (text, folder) => {
        const location = leads(rules, folder + text);
        if (location === undefined) return;
        redirected += 1;
        expect(new URL(location, origin).origin).toBe(origin);
        expect(location).toMatch(/^\/(?!\/)[\x21-\x7e]*$/);
      },
    ),
    { numRuns: 2_000 },
  );
  expect(redirected).toBeGreaterThan(200);
});

test.each([
  [['old', '/new'], 'Rule 1 has a path that does not begin with a slash: old.'],
  [['/o*', '/new'], 'Rule 1 has a * that is not at the end of its path'],
  [['/*/o', '/new'], 'Rule 1 has a * that is not at the end of its path'],
  [['/o?x=1', '/new'], 'Rule 1 has a query or fragment'],
  [['/a/../b', '/new'], 'Rule 1 has . or ..'],
  [['/a/%2e%2e/b', '/new'], 'Rule 1 has . or ..'],
  [['/a%2Fb', '/new'], 'a path that contains a character that is not allowed'],
  [['/a\\b', '/new'], 'a path that contains a character that is not allowed'],
  [['/a%00', '/new'], 'a path that contains a character that is not allowed'],
  [['//a', '/new'], 'a path that contains a character that is not allowed'],
  [['/a%zz', '/new'], 'an invalid % escape'],
  [['/a%ED%A0%80', '/new'], 'an invalid % escape'],
  [[`/${'a'.repeat(1100)}`, '/new'], 'longer than 1024 bytes'],
  [['/a'], 'Rule 1 has no target.'],
  [['/a', ''], 'neither a path on the site nor an http'],
  [['/a', 'b'], 'neither a path on the site nor an http'],
  [['/a', 'javascript:alert(1)'], 'neither a path on the site nor an http'],
  [['/a', 'JAVASCRIPT:alert(1)'], 'neither a path on the site nor an http'],
  [['/a', 'data:text/html,x'], 'neither a path on the site nor an http'],
  [['/a', 'ftp://x.example/'], 'neither a path on the site nor an http'],
  [['/a', '//evil.example'], 'a different host, without a scheme'],
  [['/a', '/\\evil.example'], 'a character that is not allowed'],
  [['/a', '/\t/evil.example'], 'a character that is not allowed'],
  [['/a', 'https://user:pass@x.example/'], 'cannot be parsed'],
  [['/a', 'https://'], 'cannot be parsed'],
  [['/a/*', 'https://x.example:splat/'], 'cannot be parsed'],
  [['/a/*', 'https://:splat'], 'cannot be parsed'],
  [['/a', '/b/:splat'], 'uses :splat, but its path does not end in /*'],
  [['/a', '/b%zz'], 'an invalid % escape'],
  [['/a', '/b', 200], 'has the status 200'],
  [['/a', '/b', 404], 'has the status 404'],
  [['/a', `/${'b'.repeat(2100)}`], 'longer than 2048 bytes'],
] as [[string, string?, number?], string][])('the rule %j is refused', (rule, words) => {
  expect(faultOf(() => check(rule))).toContain(words);
});

test.each([
  ['to itself', [['/a', '/a']], 1],
  ['to itself with a slash', [['/a', '/a/']], 1],
  [
    'over one other',
    [
      ['/x', '/y'],
      ['/a', '/b'],
      ['/b', '/a?x=1'],
    ],
    2,
  ],
  [
    'over three',
    [
      ['/a', '/b'],
      ['/b', '/c'],
      ['/c', '/a#part'],
    ],
    1,
  ],
  ['by its own address', [['/a', `${origin}/a`]], 1],
  ['by its bare address', [['/', origin]], 1],
  ['into its own folder', [['/a/*', '/a/b/:splat']], 1],
  ['from everything to a page', [['/*', '/moved']], 1],
  [
    'through a splat and back',
    [
      ['/a/*', '/b/:splat'],
      ['/b/*', '/a/:splat'],
    ],
    1,
  ],
  [
    'through a splat that catches another',
    [
      ['/a/*', '/b/x/:splat'],
      ['/b/x/y', '/a/y'],
    ],
    2,
  ],
  [
    'through a rule deeper than both',
    [
      ['/a/*', '/b/:splat'],
      ['/b/x/*', '/c/:splat'],
      ['/c/y/*', '/a/x/y/:splat'],
    ],
    3,
  ],
  ['by an escaped spelling', [['/café', '/caf%C3%A9']], 1],
] as [string, [string, string][], number][])('a loop %s is refused, and its rule named', (_what, rules, number) => {
  expect(faultOf(() => check(...rules))).toContain(`Rule ${number} creates a loop`);
});

test('a chain is not a loop, nor are rules that resemble one', () => {
  const chain = Array.from({ length: 20 }, (_, n): [string, string] => [`/${n}`, `/${n + 1}`]);
  expect(faultOf(() => check(...chain))).toBe('fine');
  expect(faultOf(() => check(...chain, ['/20', '/21'], ['/21', '/22']))).toContain(
    'Rule 1 creates a loop, or a chain of more than 20',
  );
  expect(faultOf(() => check(['/a/*', '/b/:splat'], ['/b/x', '/a/y']))).toBe('fine');
  expect(faultOf(() => check(['/x/a/*', '/x/:splat']))).toBe('fine');
});

test('the same path twice is refused, in any spelling', () => {
  expect(faultOf(() => check(['/a', '/b'], ['/c', '/d'], ['/a/', '/e']))).toBe(
    'Rule 3 has the same path as rule 1: /a/.',
  );
  expect(faultOf(() => check(['/%61', '/b'], ['/a', '/d']))).toContain('Rule 2 has the same path as rule 1');
  expect(faultOf(() => check(['/a/*', '/b'], ['/a', '/d']))).toBe('fine');
  expect(faultOf(() => check(['/a/*', '/b'], ['/a/*', '/d']))).toContain('same path');
});

test('a site accepts 2,000 rules, validated in under a second', async () => {
  const rules = (count: number) =>
    Array.from({ length: count }, (_, n): [string, string] => [`/old/${n}/*`, `/new/${n}/:splat`]);
  const judged = async () => expect(faultOf(() => check(...rules(2_000)))).toBe('fine');
  expect(await quickest(1_000, judged)).toBeLessThan(1_000);
  expect(faultOf(() => check(...rules(2_001)))).toBe('There are 2001 redirects; the limit is 2000.');
});

// A chain may be longer than 20 where a path repeats a folder that a rule removes (/x/a/a/a by /x/a/*), but it ends.
test('accepted rules loop from no path', () => {
  const name = fc.constantFrom('a', 'b', 'c');
  const path = fc.array(name, { maxLength: 3 }).map((names) => `/${names.join('/')}`);
  const splat = fc
    .tuple(path, path)
    .map(([from, to]): [string, string] => [`${from === '/' ? '' : from}/*`, `${to === '/' ? '' : to}/:splat`]);
  const rule = fc.oneof(splat, fc.tuple(path, path));
  let redirected = 0;
  fc.assert(
    fc.property(
      fc.array(rule, { maxLength: 6 }),
      fc.array(fc.array(name, { maxLength: 7 }), { maxLength: 20 }),
      (rules, asked) => {
        if (faultOf(() => check(...rules)) !== 'fine') return;
        const table = createRedirectTable(check(...rules));
        for (const names of asked) {
          if (leads(check(...rules), names.join('/'))) redirected += 1;
          expect(repeats(table, names.join('/'))).toBe(false);
        }
      },
    ),
    { numRuns: 3_000 },
  );
  expect(redirected).toBeGreaterThan(300);
});

/** Whether redirects from the path come back to a path that was visited before, or grow without end. */
function repeats(table: RedirectTable, path: string): boolean {
  const visited = new Set([path]);
  for (let at = path; ; visited.add(at)) {
    const match = findRedirect([table], at);
    if (!match) return false;
    at = (locationOf(match) as string).slice(1);
    if (visited.has(at) || at.length > 1_000) return true;
  }
}
