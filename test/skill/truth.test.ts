/** Everything that the skill tree names exists: fields, error codes, paths, commands and font families. */

import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { capabilities } from '#api/capabilities.ts';
import { forSurface } from '#api/skill/tree.ts';
import { packageGroups } from '#providers/sandbox/image/offered-packages.ts';
import { toolName } from '#rules/calls/calls.ts';
import { limitNames } from '#rules/limit-names.ts';
import { catalog } from '#runtime/errors.ts';
import { bundleClient } from '#skill/client-bundle.ts';
import { loadSkillTree } from '#skill/tree.ts';
import { listTemplates, readTemplate } from '#templates/templates.ts';
import { callWith, createFixture } from '#test/api/fixture.ts';

const root = join(import.meta.dirname, '../..');
const fixture = await createFixture({});
afterAll(() => fixture.close());
const description = (await callWith(fixture.url)('GET', '/openapi.json')).body;
const { files } = await loadSkillTree({
  baseUrl: 'https://api.example.com',
  packages: packageGroups(),
  isOn: () => true,
});
const pages = [...files.values()].filter(({ path }) => path.endsWith('.md'));
const operations = Object.values<Record<string, { operationId: string }>>(description.paths)
  .flatMap((methods) => Object.values(methods))
  .map(({ operationId }) => operationId);
const textOf = (path: string) => files.get(path)?.bytes.toString() ?? '';
const all = pages.flatMap(({ texts }) => Object.values(texts)).join('\n');

/** Names of fields, parameters and values anywhere in the description. */
function namesIn(value: unknown, names = new Set<string>()): Set<string> {
  if (typeof value !== 'object' || value === null) return names;
  for (const [key, part] of Object.entries(value)) {
    if (key === 'properties') for (const name of Object.keys(part)) names.add(name);
    if (key === 'enum') for (const name of part) names.add(name);
    if (key === 'name' && typeof part === 'string') names.add(part);
    namesIn(part, names);
  }
  return names;
}

test('every field, code, tool and value that the skill names exists in the API', () => {
  const known = namesIn(description);
  const tools = ['find_operations', 'read_operations', 'call_operations', ...operations.map(toolName)];
  for (const names of [Object.keys(catalog), limitNames, capabilities, tools])
    for (const name of names) known.add(name);
  const named = [...all.matchAll(/`([a-z]+(?:_[a-z]+)+)`/g)].map(([, name]) => name ?? '');
  expect(named.length).toBeGreaterThan(100);
  expect([...new Set(named)].filter((name) => !known.has(name))).toEqual([]);
  const limits = [...all.matchAll(/`limits\.(\w+)`/g)].map(([, name]) => name ?? '');
  expect(limits.filter((name) => !(limitNames as readonly string[]).includes(name))).toEqual([]);
});

test('every client command that the skill names exists', async () => {
  const own = [...bundleClient().matchAll(/^ {2}use: "frontage ([\w-]+)/gm)].map(([, name]) => name);
  expect(own).toContain('publish');
  const calls = operations.map((operation) => operation.replaceAll('_', '-').replace('.', ' '));
  const named = [...all.matchAll(/(?:node (?:\.\.\/)?frontage\.mjs|`frontage) ([^\n`#]+)/g)].map(([, words = '']) =>
    words.split(' '),
  );
  expect(named.length).toBeGreaterThan(6);
  for (const [first = '', second = ''] of named)
    expect([
      first,
      own.includes(first) || calls.includes(`${first} ${second}`) || /^--(help|version)$/.test(first),
    ]).toEqual([first, true]);
});

test('each template contains every site file that a page names', async () => {
  const named = [...all.matchAll(/`((?:src|docs)\/[\w./-]+\.(?:json|astro|css|ts))`/g)].map(([, path]) => path ?? '');
  const made = [
    'docs/facts.md',
    'docs/decisions.md',
    'docs/open.md',
    'src/pages/imprint.astro',
    'src/pages/privacy.astro',
  ];
  expect(named).toContain('src/pages/favicon.svg.ts');
  for (const { name } of await listTemplates()) {
    const template = await readTemplate(name, { title: 'T' });
    for (const path of [...new Set(named), ...made, 'docs/site.md', 'astro.config.mjs'])
      expect([name, path, template?.source.has(path)]).toEqual([name, path, true]);
    for (const path of made) expect(all).toContain(path);
    expect(textOf('stages/brief.md')).toContain(`\`${name}\``);
  }
  const business = await readTemplate('business', { title: 'T' });
  expect([
    business?.source.has('src/pages/[book].astro'),
    JSON.parse(String(business?.source.get('src/site.json'))),
  ]).toEqual([true, expect.objectContaining({ form: '', bookings: expect.objectContaining({ open: false }) })]);
});

test('every text of a template’s posts waits for the owner’s own', async () => {
  for (const { name } of await listTemplates()) {
    const { content = new Map<string, Buffer>() } = (await readTemplate(name, { title: 'T' })) ?? {};
    for (const [path, bytes] of content) {
      if (!path.endsWith('.md')) continue;
      const [, head = '', body = ''] = /^---\n(.*?)\n---\n(.*)$/s.exec(String(bytes)) ?? [];
      const lines = body.split('\n').map((line) => line.replace(/^(#+|>|\d+\.) /, ''));
      const unmarked = lines.filter((line) => line !== '' && !/^\[\[[^[\]]+\]\]$/.test(line));
      expect([name, path, unmarked]).toEqual([name, path, []]);
      expect(head).not.toMatch(/^(title|description|coverAlt): (?!"\[\[)|^tags: \[(?!"\[\[)/m);
    }
  }
});

test('no template asks visitors to call where it has no phone number', async () => {
  for (const { name } of await listTemplates()) {
    const { source = new Map<string, Buffer>() } = (await readTemplate(name, { title: 'T' })) ?? {};
    for (const [path, bytes] of source) {
      const asking = String(bytes)
        .split('\n')
        .filter((line) => /call <Reach by="phone"/.test(line) && !line.includes('{site.phone && '));
      expect([name, path, asking]).toEqual([name, path, []]);
    }
  }
});

test('the font families that the skill recommends are installed in every site', async () => {
  const { dependencies } = JSON.parse(await readFile(join(root, 'providers/sandbox/image/package.json'), 'utf8'));
  const packages = Object.keys(dependencies).filter((name) => name.startsWith('@fontsource'));
  const rows = textOf('design/type.md').match(/^\| (?!Character|---).+$/gm) ?? [];
  const families = rows.flatMap((row) => (row.split('|')[2] ?? '').split(',').map((name) => name.trim()));
  const nameOf = (family: string) => family.toLowerCase().replaceAll(' ', '-');
  const installed = new Set(packages.map((name) => name.split('/')[1]));
  expect(families.filter((family) => !installed.has(nameOf(family)))).toEqual([]);
  const isStatic = (family: string) => !packages.includes(`@fontsource-variable/${nameOf(family)}`);
  expect(families.filter(isStatic)).toEqual(['DM Serif Display', 'Instrument Serif']);
});

test('every page is short enough to read at once', () => {
  for (const { path, texts } of pages.filter((page) => !/reference\/(errors|packages).md/.test(page.path)))
    for (const text of Object.values(texts))
      expect([path, Buffer.byteLength(text) < (path === 'SKILL.md' ? 12_000 : 4_000)]).toEqual([path, true]);
});

test.each([
  ['mcp', /\bcurl\b|Over HTTP\b|\b(GET|POST|PUT|PATCH|DELETE)\b|Idempotency-Key|openapi\.json/],
  ['mcp', /frontage\.mjs|\bfrontage [a-z]|\bthe client\b|(?<!\S)`?--(?!frontage)[a-z]|[?&][a-z_]+=/],
  ['client', /\bcurl -s |Over HTTP\b|\b(GET|POST|PUT|PATCH|DELETE)\b|idempotency_key|(read|call)_operations \{|`\?/],
] as const)('no page for %s has words of another surface', (surface, foreign) => {
  for (const page of pages) {
    const lines = forSurface(page, surface).bytes.toString().split('\n');
    expect([page.path, lines.filter((line) => foreign.test(line))]).toEqual([page.path, []]);
  }
});
