/**
 * What other generators make of their own starters, published by `frontage deploy`. docs/projects.md says how each output is made. With
 * `--projects <folder>`, which has each output in a folder of its name.
 */
import { readdir, readFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { isHashedAsset, pageAddressOf } from '#edge/content/files.ts';
import { newTerminal } from '#test/acceptance/terminal.ts';
import { pathOf } from '#test/stack/requirements.ts';
import { useStack } from '#test/stack/stack.ts';

/** Where the generator puts files whose names change with their bytes, and what answers an address without a file. */
const generators = [
  { name: 'vite-react', hashed: /^assets\//, missing: { status: 200, page: 'index.html' } },
  { name: 'vite-vue', hashed: /^assets\//, missing: { status: 200, page: 'index.html' } },
  { name: 'vite-svelte', hashed: /^assets\//, missing: { status: 200, page: 'index.html' } },
  { name: 'vitepress', hashed: /^assets\//, missing: { status: 404, page: '404.html' } },
  { name: 'docusaurus', hashed: /^assets\//, missing: { status: 404, page: '404.html' } },
  { name: 'eleventy', hashed: /^$/, missing: { status: 404, page: '404.html' } },
  { name: 'hugo', hashed: /^$/, missing: { status: 404, page: '404.html' } },
  { name: 'next-export', hashed: /^_next\/static\//, missing: { status: 404, page: '404.html' } },
];

const folder = await pathOf('projects');
const stack = useStack();
const { run, close } = await newTerminal(`${stack.baseUrl}/skill/bin/frontage.mjs`);
afterAll(close);
const present = new Set(folder === '' ? [] : await readdir(folder));
const immutable = 'public, max-age=31536000, immutable';

describe.each(generators.filter(({ name }) => present.has(name)))('$name', { tags: 'projects' }, (generator) => {
  const { name, hashed, missing } = generator;
  const output = join(folder, name);
  const site = `output-${name}`;
  const visit = (path: string) => stack.visit(site, path);

  test('is published as it is, and each of its files served', { timeout: 300_000 }, async () => {
    const { token } = await stack.openOwner();
    await stack.api('/v1/sites', { token, body: { name: site, title: name, template: null } });
    const { exit, err } = await run(['deploy', site, output], { env: { FRONTAGE_TOKEN: token } });
    expect(exit, err.slice(-3000)).toBe(0);
    console.log(`${name}:\n  ${err.trim().split('\n').join('\n  ')}`);
    const files = await filesOf(output);
    const wrong: string[] = [];
    let lasting = 0;
    for (const path of files) {
      const { status, body, headers } = await visit(addressOf(path));
      const isSame = status === 200 && body.equals(await readFile(join(output, path)));
      if (!isSame) wrong.push(`${path}: ${status}`);
      const isImmutable = headers['cache-control'] === immutable;
      if (isImmutable) lasting++;
      if (isImmutable && !hashed.test(path)) wrong.push(`${path} is kept for a year`);
      if (!isImmutable && isHashedAsset(path)) wrong.push(`${path} is not kept`);
    }
    const named = files.filter((path) => hashed.test(path));
    console.log(`${name}: ${lasting} of ${named.length} files with a hash in their names are kept for a year`);
    expect(wrong).toEqual([]);
  });

  test('links of its pages lead to pages and files', async () => {
    const broken = new Set<string>();
    for (const path of await filesOf(output)) {
      const address = pageAddressOf(path);
      if (address === undefined) continue;
      for (const target of linksOf(await readFile(join(output, path), 'utf8'), address)) {
        const { status, headers } = await visit(target);
        const then = status === 308 ? (await visit(String(headers.location))).status : status;
        if (then !== 200) broken.add(`${address} → ${target}: ${then}`);
      }
    }
    expect([...broken]).toEqual([]);
  });

  test('an address without a file has the generator’s page, and no script does', async () => {
    const { status, text } = await visit('/orders/17/edit?tab=2');
    expect({ status, text }).toEqual({
      status: missing.status,
      text: await readFile(join(output, missing.page), 'utf8'),
    });
    expect((await visit('/assets/index-OldQ3BS1.js')).status).toBe(404);
  });
});

/** The files that are served: a page for missing ones has no address of its own, and names with a dot or of rules are not served. */
async function filesOf(output: string): Promise<string[]> {
  const items = await readdir(output, { recursive: true, withFileTypes: true });
  const paths = items.filter((one) => one.isFile()).map((one) => relative(output, join(one.parentPath, one.name)));
  return paths.filter((path) => !/(^|\/)(\.|404\.html$)|^_(headers|redirects)$/.test(path)).sort();
}

const addressOf = (path: string) => encodeURI(pageAddressOf(path) ?? `/${path}`);

/** The addresses on the same site that a page links to. */
function linksOf(page: string, address: string): Set<string> {
  const found = [...page.matchAll(/\s(?:href|src)=(?:"([^"]*)"|([^\s">]+))/g)].map(
    ([, quoted, bare]) => quoted ?? bare,
  );
  const urls = found.map((link = '') => URL.parse(link.replaceAll('&amp;', '&'), `http://site.invalid${address}`));
  return new Set(urls.filter((url) => url?.host === 'site.invalid').map((url) => `${url?.pathname}${url?.search}`));
}
