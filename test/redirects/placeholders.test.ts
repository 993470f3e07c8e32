import { expect, test } from 'vitest';
import { checkRedirects } from '#providers/redirects/rules.ts';
import { createRedirectTable, findRedirect, locationOf, type RedirectRule } from '#providers/redirects.ts';
import { quickest } from '#test/stack/quickest.ts';

const check = (...rules: [from: string, to: string][]) =>
  checkRedirects(
    rules.map(([from, to], index) => ({ name: `Rule ${index + 1}`, from, to, status: 301 })),
    'http://shop.sites.test',
  );
const leads = (rules: RedirectRule[], path: string) => {
  const match = findRedirect([createRedirectTable(rules)], path);
  return match && locationOf(match);
};

test('a name precedes a placeholder, and a whole path its folder', () => {
  const rules = check(
    ['/blog/:slug', '/one/:slug'],
    ['/blog/new', '/two'],
    ['/blog/:year/:slug', '/three/:slug?y=:year'],
    ['/blog/2020/:slug', '/four/:slug'],
    ['/blog/2020/a/*', '/five/:splat'],
    ['/:any/2020/*', '/six/:any/:splat'],
    ['/blog/*', '/seven/:splat'],
    ['/wiki/Talk:Main', '/talk:slug'],
  );
  expect(leads(rules, 'blog/new')).toBe('/two');
  expect(leads(rules, 'blog/old/')).toBe('/one/old');
  expect(leads(rules, 'blog/2021/x')).toBe('/three/x?y=2021');
  expect(leads(rules, 'blog/2020/x')).toBe('/four/x');
  expect(leads(rules, 'blog/2020/a/b/c')).toBe('/five/b/c');
  expect(leads(rules, 'blog/2020/b/c')).toBe('/six/blog/b/c');
  expect(leads(rules, 'shop/2020/ü/c')).toBe('/six/shop/%C3%BC/c');
  expect(leads(rules, 'blog/a/b/c')).toBe('/seven/a/b/c');
  expect(leads(rules, 'blog//x')).toBe('/seven//x');
  expect(leads(rules, 'wiki/Talk:Main')).toBe('/talk:slug');
});

test('hostile placeholders take no longer than a look at each', async () => {
  const rules = check(
    ...Array.from({ length: 100 }, (_, n): [string, string] => [
      `${Array.from({ length: 19 }, (_, at) => ((n >> (at % 7)) & 1 ? '/a' : `/:p${at}`)).join('')}/${n}`,
      '/x',
    ]),
  );
  const table = createRedirectTable(rules);
  const path = 'a/'.repeat(2_000);
  expect(await quickest(20, async () => void table.find(path))).toBeLessThan(20);
});
