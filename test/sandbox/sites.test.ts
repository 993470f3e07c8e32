import { stripVTControlCharacters } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { openUnprotectedSandbox } from '#providers/sandbox/unprotected.ts';
import { listTemplates, readTemplate } from '#templates/templates.ts';
import { size } from '#test/campaigns/size.ts';
import {
  build,
  coarseLimitLine,
  dataDir,
  newOwner,
  openKind,
  site,
  siteThatRuns,
  siteThatTellsLimits,
} from './fixture.ts';
import { casesIn, describeFirst } from './kinds.ts';

const names = ['blank', 'blog', 'business', 'portfolio', 'restaurant'];

async function treeOf(name: string, posts: boolean): Promise<Map<string, Buffer>> {
  const template = await readTemplate(name, { title: 'Lighthouse & Sons' });
  if (!template) throw new Error(`No template ${name}`);
  const content = [...template.content].map(([path, bytes]): [string, Buffer] => [`src/content/${path}`, bytes]);
  return new Map([...template.source, ...(posts ? content : [])]);
}

test('the tests build all starters', async () => {
  expect((await listTemplates()).map(({ name }) => name)).toEqual(names);
  expect(await readTemplate('../sandbox', { title: 'x' })).toBeUndefined();
});

describeFirst((kind) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind);
  }, 300_000);
  afterAll(() => sandbox?.close());

  // With posts, acceptance tests publish others.
  const forms = (name: string) => (size === 'one' ? [name === 'blank'] : [true, false]);
  test.for(size === 'one' ? names : casesIn(kind, names))(
    'the starter %s builds with its posts or without any',
    { timeout: 120_000 },
    async (name) => {
      for (const posts of forms(name)) {
        const { outcome, files, log } = await build(sandbox, await treeOf(name, posts));
        expect(outcome, log).toEqual({ status: 'built' });
        const expected = [
          'index.html',
          '404.html',
          'favicon.svg',
          'robots.txt',
          'rss.xml',
          'sitemap-index.xml',
          'share.png',
          'privacy/index.html',
          'imprint/index.html',
        ];
        expect([...files.keys()]).toEqual(expect.arrayContaining(expected));
        const home = String(files.get('index.html'));
        expect(home).toContain('Lighthouse &amp; Sons');
        expect(home).toContain('<link rel="canonical" href="https://shop.example/">');
        expect(home).toContain('<meta property="og:image" content="https://shop.example/share.png">');
        // A text that waits for the owner's own, and no page to book before there is something to book.
        expect([home.includes('[['), files.has('book/index.html')]).toEqual([true, false]);
        expect(String(files.get('sitemap-0.xml')).includes('/posts/')).toBe(posts);
        for (const [path, bytes] of files) {
          if (!/\.(html|css)$/.test(path)) continue;
          const loads = String(bytes).match(/(?:\bsrc=|url\(|@import )["']?(?:https?:)?\/\/[^\s"')]*/g) ?? [];
          expect(loads, `${path} loads from elsewhere`).toEqual([]);
        }
      }
    },
  );

  test('the platform’s address and the output’s _headers win; a base is warned of', async () => {
    const tree = site({
      'astro.config.mjs': `import fs from 'node:fs';
        const write = ({ dir }) => fs.writeFileSync(new URL('_headers', dir), 'of the output');
        export default { site: 'https://elsewhere.example', outDir: '/tmp/elsewhere', base: '/shop',
          integrations: [{ name: 'x', hooks: { 'astro:build:done': write } }] };`,
      'public/_headers': 'of the source',
      'src/pages/index.astro': '<p>{Astro.site.href}</p>',
    });
    const { outcome, files, log } = await build(sandbox, tree);
    expect(log).toContain('Warning: The configuration sets base to "/shop');
    expect(outcome).toEqual({ status: 'built' });
    expect(String(files.get('index.html'))).toContain('<p>https://shop.example/</p>');
    expect(String(files.get('_headers'))).toBe('of the output');
  });

  const faults = [
    {
      what: 'a fault in a page',
      tree: site({ 'src/pages/index.astro': '---\nconst a = ;\n---\n<h1>{a}</h1>' }),
      says: /src\/pages\/index\.astro/,
    },
    {
      what: 'an error while a page is made',
      tree: site({ 'src/pages/index.astro': '---\nthrow new Error("The oven is cold");\n---\n<h1>Hi</h1>' }),
      says: /The oven is cold/,
    },
    {
      what: 'an import of what is not there',
      tree: site({ 'src/pages/index.astro': '---\nimport x from "../missing.ts";\n---\n{x}' }),
      says: /missing\.ts/,
    },
    {
      what: 'a post that does not fit its schema',
      tree: site({
        'src/content.config.ts': `import { defineCollection } from 'astro:content'; import { glob } from 'astro/loaders';
          import { z } from 'astro/zod';
          export const collections = { posts: defineCollection({
            loader: glob({ base: './src/content/posts', pattern: '*.md' }), schema: z.object({ title: z.string() }) }) };`,
        'src/content/posts/first.md': '---\ntitel: Wrong\n---\nText',
      }),
      says: /first.*title/s,
    },
    {
      what: 'a configuration that is not one',
      tree: site({ 'astro.config.mjs': 'export default { trailingSlash: 7 };' }),
      says: /astro\.config.*trailingSlash/s,
    },
    {
      what: 'a configuration that throws',
      tree: siteThatRuns('throw new Error("The key is lost");'),
      says: /The key is lost/,
    },
    {
      what: 'no home page',
      tree: { 'src/pages/about.astro': '<h1>About</h1>' },
      says: /no index\.html.*src\/pages\/index\.astro/,
    },
    { what: 'node_modules in git', tree: site({ 'node_modules/x/index.js': '' }), says: /node_modules.*Remove it/ },
    {
      what: 'a font of another host, which would be left out in silence',
      tree: site({
        'astro.config.mjs': `import { fontProviders } from 'astro/config';
          export default { fonts: [{ provider: fontProviders.google(), name: 'Roboto', cssVariable: '--f' }] };`,
      }),
      says: /Roboto.*google.*@fontsource/s,
    },
    {
      what: 'another folder of static files',
      tree: site({ 'astro.config.mjs': "export default { publicDir: './static' };" }),
      says: /publicDir.*src\/static\//,
    },
    { what: 'a process that ends early', tree: siteThatRuns('process.exit(3);'), says: /exit code 3/ },
  ];

  test.for(casesIn(kind, faults))('$what fails the build, and the message says why', async ({ what, tree, says }) => {
    const { outcome, files, log } = await build(sandbox, tree as Record<string, string>);
    expect(outcome, log).toMatchObject({
      status: 'failed',
      code: 'build_failed',
      message: expect.stringMatching(says),
    });
    const { message } = outcome as { message: string };
    expect(message).toBe(stripVTControlCharacters(message));
    expect(message).not.toContain('/site/');
    if (what === 'a fault in a page') expect(log).toContain('src/pages/index.astro');
    expect(files.size).toBe(0);
  });
});

test('an explicitly unprotected build gives the same files, with a limit of memory', {
  timeout: 60_000,
}, async () => {
  const sandbox = await openUnprotectedSandbox({ dataDir, owner: newOwner(), onProgress: () => {} });
  const copied = {
    'ä.txt': Buffer.from('ä'),
    [`${'long/'.repeat(60)}name.txt`]: Buffer.alloc(65_536, 'x'),
    'empty.txt': Buffer.alloc(0),
    'long.bin': Buffer.alloc(3_000_000, 'long '),
  };
  const inPublic = Object.entries(copied).map(([path, bytes]) => [`public/${path}`, bytes]);
  const isLinux = process.platform === 'linux';
  const base = isLinux ? siteThatTellsLimits : site();
  const { outcome, files } = await build(sandbox, { ...base, ...Object.fromEntries(inPublic) });
  expect(outcome).toEqual({ status: 'built' });
  expect(String(files.get('index.html'))).toContain('<h1>Hello</h1>');
  expect(Object.fromEntries(files)).toMatchObject(copied);
  if (isLinux) expect(String(files.get('limits.txt'))).toMatch(coarseLimitLine);
  const slow = await build(sandbox, siteThatRuns('for (;;);'), { limits: { timeoutMs: 2_000 } });
  expect(slow.outcome).toMatchObject({ code: 'build_timeout' });
  expect(await sandbox.removeOrphanBuilds(async () => false)).toBe(0);
});
