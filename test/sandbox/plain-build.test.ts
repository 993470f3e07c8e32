/** A site built here and by Astro's own command, with the same packages, has the same bytes. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import type { Sandbox } from '#providers/sandbox/sandbox.ts';
import { openUnprotectedSandbox } from '#providers/sandbox/unprotected.ts';
import { size } from '#test/campaigns/size.ts';
import { build, dataDir, newOwner, openKind, type Site } from './fixture.ts';
import { describeFirst } from './kinds.ts';
import { buildPlainly, platformPackages, withoutIds } from './plain.ts';

/** The memory of a real build. */
const limits = { memoryBytes: 2 * 1024 ** 3, timeoutMs: 240_000 };

/**
 * What real projects use most. Without Tailwind, whose style sheets differ between two builds by Astro's own command, and without colours of
 * code, which the highlighter leaves out where a machine is too slow.
 */
const project: Site = {
  'astro.config.mjs': `
    import { defineConfig } from 'astro/config';
    import { unified } from '@astrojs/markdown-remark';
    import mdx from '@astrojs/mdx';
    import preact from '@astrojs/preact';
    import react from '@astrojs/react';
    import solid from '@astrojs/solid-js';
    import svelte from '@astrojs/svelte';
    import vue from '@astrojs/vue';
    import expressiveCode from 'astro-expressive-code';
    import icon from 'astro-icon';
    import remarkToc from 'remark-toc';
    import rehypeSlug from 'rehype-slug';
    const shout = () => (tree) => { for (const node of tree.children) if (node.type === 'heading') node.children[0].value += '!'; };
    const mark = () => (tree) => { for (const node of tree.children) if (node.tagName === 'p') node.properties.className = ['marked']; };
    export default defineConfig({
      site: 'https://shop.example',
      integrations: [expressiveCode(), mdx(), icon(), svelte(), vue(),
        react({ include: ['**/react/*'] }), preact({ include: ['**/preact/*'] }), solid({ include: ['**/solid/*'] })],
      markdown: { processor: unified({ remarkPlugins: [remarkToc, shout], rehypePlugins: [rehypeSlug, mark] }) },
    });`,
  'src/layouts/Page.astro': `---
    import { ClientRouter } from 'astro:transitions';
    import { Icon } from 'astro-icon/components';
    import { SEO } from 'astro-seo';
    import '@fontsource-variable/montserrat';
    import '../styles/site.scss';
    ---
    <html lang="en"><head><meta charset="utf-8"><SEO title="Shop" /><ClientRouter /></head>
    <body><Icon name="tabler:home" /><main transition:animate="slide"><slot /></main></body></html>
    <style>main { max-width: 40rem; }</style>`,
  'src/styles/site.scss': '$red: #a00; main { h1 { color: $red; } }',
  'src/pages/index.astro': `---
    import clsx from 'clsx';
    import { twMerge } from 'tailwind-merge';
    import dayjs from 'dayjs';
    import Page from "../layouts/Page.astro";
    import Counter from "../components/react/Counter.jsx";
    import Toggle from "../components/preact/Toggle.jsx";
    import Sum from "../components/solid/Sum.jsx";
    import Menu from "../components/Menu.svelte";
    import Map from "../components/Map.vue";
    ---
    <Page><h1 class={twMerge(clsx('p-2', 'p-4'))}>{dayjs('2026-11-26').format('D MMMM')}</h1>
    <Counter client:load /><Toggle client:idle /><Sum client:visible /><Menu client:load /><Map client:only="vue" /></Page>`,
  'src/pages/post.md':
    '---\nlayout: ../layouts/Page.astro\n---\n# Bread\n\n## Contents\n\n## Rye\n\nText\n\n```text\nconst a = 1;\n```\n',
  'src/pages/recipe.mdx': '# Cake\n\n## Icing\n\n{1 + 1}\n',
  'src/components/react/Counter.jsx': `import { useState } from 'react';
    export default () => { const [n, set] = useState(0); return <button onClick={() => set(n + 1)}>{n}</button>; };`,
  'src/components/preact/Toggle.jsx': `import { useState } from 'preact/hooks';
    export default () => { const [on, set] = useState(false); return <button onClick={() => set(!on)}>{String(on)}</button>; };`,
  'src/components/solid/Sum.jsx': `import { createSignal } from 'solid-js';
    export default () => { const [n, set] = createSignal(1); return <button onClick={() => set(n() * 2)}>{n()}</button>; };`,
  'src/components/Menu.svelte':
    '<script>let open = $state(false);</script><button onclick={() => (open = !open)}>{open}</button><style>button { color: teal; }</style>',
  'src/components/Map.vue':
    '<script setup>import { ref } from "vue"; const at = ref(1);</script><template><p>{{ at }}</p></template><style scoped>p { color: navy; }</style>',
  'src/static/robots.txt': 'User-agent: *\nAllow: /\n',
  'src/static/.well-known/security.txt': 'Contact: mailto:owner@shop.example\n',
};

/** The same in its own folder, with static files in `public/`, as Astro's documentation has it. */
async function buildElsewhere(files: Site): Promise<Map<string, Buffer>> {
  const root = await mkdtemp(join(tmpdir(), 'frontage-plain-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  for (const [name, content] of Object.entries({ ...files, 'package.json': await platformPackages() })) {
    const target = join(root, name.replace('src/static/', 'public/'));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, content);
  }
  return await buildPlainly(root);
}

function expectSame(built: Map<string, Buffer>, plain: Map<string, Buffer>) {
  expect([...built.keys()].sort()).toEqual([...plain.keys()].sort());
  for (const [path, bytes] of plain) expect(withoutIds(built.get(path)) === withoutIds(bytes), path).toBe(true);
}

describeFirst((kind) => {
  let sandbox: Sandbox;
  beforeAll(async () => {
    sandbox = await openKind(kind);
  }, 300_000);
  afterAll(() => sandbox?.close());

  test('a project with transitions, plugins and islands builds as on any machine', { timeout: 300_000 }, async () => {
    const plain = await buildElsewhere(project);
    const here = await build(sandbox, project, { limits });
    expect(here.outcome, here.log).toEqual({ status: 'built' });
    expectSame(here.files, plain);
    expect(String(plain.get('index.html'))).toContain('astro-view-transitions-enabled');
    expect(String(plain.get('post/index.html'))).toMatch(
      /<h1 id="bread">Bread!<\/h1>[\s\S]*<p class="marked">Text<\/p>/,
    );
    expect(plain.has('.well-known/security.txt')).toBe(true);
    // Without a sandbox the same code builds: test/sandbox/sites has a smaller site for it.
    if (size === 'one') return;
    const unprotected = await openUnprotectedSandbox({ dataDir, owner: newOwner(), onProgress: () => {} });
    const { outcome, files, log } = await build(unprotected, project, { limits });
    expect(outcome, log).toEqual({ status: 'built' });
    expectSame(files, plain);
  });

  test('Starlight builds, with the classes of posts that git ignores', { timeout: 120_000 }, async () => {
    const docs: Site = {
      '.gitignore': 'dist/\nsrc/content/\n',
      'astro.config.mjs': `
        import starlight from '@astrojs/starlight';
        import tailwindcss from '@tailwindcss/vite';
        import { defineConfig } from 'astro/config';
        export default defineConfig({
          integrations: [starlight({ title: 'Docs', customCss: ['./src/styles.css'] })],
          vite: { plugins: [tailwindcss()] },
        });`,
      'src/content.config.ts': `
        import { docsLoader } from '@astrojs/starlight/loaders';
        import { docsSchema } from '@astrojs/starlight/schema';
        import { defineCollection } from 'astro:content';
        export const collections = { docs: defineCollection({ loader: docsLoader(), schema: docsSchema() }) };`,
      'src/content/docs/index.md': '---\ntitle: Start\n---\n\n<p class="rotate-12">Turned</p>\n',
      'src/styles.css': '@import "tailwindcss/utilities";\n',
    };
    const { outcome, log, files } = await build(sandbox, docs, { limits });
    expect(outcome, log).toEqual({ status: 'built' });
    expect(String(files.get('index.html'))).toContain('<p class="rotate-12">Turned</p>');
    const styles = [...files].filter(([path]) => path.endsWith('.css')).map(([, bytes]) => String(bytes));
    expect(styles.join('')).toContain('.rotate-12{');
  });
});
