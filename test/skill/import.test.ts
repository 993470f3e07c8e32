/** The client imports a small project, as it is on its maker's machine. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, expect, test } from 'vitest';
import type { Repositories } from '#providers/repositories.ts';
import { createFixture } from '#test/api/fixture.ts';
import { commitFiles, git } from '#test/git/git.ts';
import { useBundledClient } from './bundled-client.ts';

const client = useBundledClient();
const fixture = await createFixture();
const owner = await fixture.newCaller();
const repositories = fixture.deps.repositories as Repositories;
const home = await mkdtemp(join(tmpdir(), 'frontage-import-test-'));
afterAll(async () => {
  await fixture.close();
  await rm(home, { recursive: true, force: true });
});

function start(args: string[]) {
  const env = { PATH: process.env.PATH, HOME: home, FRONTAGE_URL: fixture.url, FRONTAGE_TOKEN: owner.token };
  const child = spawn(process.execPath, [client, ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const err = text(child.stderr);
  child.stdout.resume();
  return { child, ended: once(child, 'exit').then(async ([exit]) => ({ exit, err: await err })) };
}

const files = {
  'package.json': '{ "name": "small", "dependencies": { "astro": "^5.0.0", "three": "1.0.0" } }',
  'pnpm-lock.yaml': 'lockfileVersion: 9',
  'astro.config.mjs': 'export default {};\n',
  '.env': 'SECRET=1\n',
  'public/robots.txt': 'User-agent: *\n',
  'public/legacy.html': '<script>1</script>',
  'public/_redirects': '/old / 301\n',
  'src/content/config.ts': `import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
export const collections = { blog: defineCollection({ loader: glob({ pattern: '*.md', base: 'src/content/blog' }) }) };
`,
  'src/content/blog/first.md': '---\ntitle: First\n---\n\nThe first post.\n',
  'src/content/blog/Chart.jsx': 'export default 1;\n',
  'src/pages/index.astro': `---
import 'three';
import { getCollection } from 'astro:content';
const posts = await getCollection('blog');
---
<html lang="en"><head><title>Small</title></head><body><h1>{posts.map(({ id }) => id)}</h1></body></html>
`,
};

test('a project is imported from git after it is asked for', { timeout: 120_000 }, async () => {
  const project = join(home, 'small-project');
  await git(home, ['init', '-q', project]);
  await commitFiles(project, files);
  const url = `file://${project}`;
  const asked = await start(['import', url]).ended;
  expect([asked.exit, asked.err]).toEqual([4, expect.stringContaining('Repeat it with --yes.')]);
  for (const line of [
    'public/robots.txt → src/static/robots.txt',
    'src/content/config.ts → src/content.config.ts',
    'left out: public/legacy.html (no file of this format is served unchanged)',
    'left out: package.json (the platform has its own)',
    'left out: .env (hidden)',
    'left out: src/content/blog/Chart.jsx (code beside content)',
    'not offered: three in src/pages/index.astro',
  ])
    expect(asked.err).toContain(line);
  const sites = async () => (await owner.call('GET', '/v1/sites')).body.items;
  expect(await sites()).toEqual([]);

  // No build runs here, so the client would follow it for ever.
  const { child, ended } = start(['import', url, '--yes']);
  const queued = async () => {
    const [site] = await sites();
    const list = site && (await owner.call('GET', `/v1/sites/${site.id}/deployments`)).body.items;
    return list?.length > 0 ? site : undefined;
  };
  await expect.poll(queued, { timeout: 60_000 }).toMatchObject({ name: 'small-project' });
  child.kill();
  await ended;
  const [{ id }] = await sites();
  const pathsIn = async (repository: 'source' | 'content') =>
    (await repositories.listTree(id, repository, (await repositories.head(id, repository)) as string)).map(
      ({ path }) => path,
    );
  expect(await pathsIn('content')).toEqual(['blog/first.md']);
  expect((await pathsIn('source')).sort()).toEqual(
    '.gitignore _redirects astro.config.mjs src/content.config.ts src/pages/index.astro src/static/robots.txt'.split(
      ' ',
    ),
  );
});

test('what is no project makes no site', async () => {
  await mkdir(join(home, 'empty'));
  for (const args of [[join(home, 'empty')], ['nothing'], ['ext::sh -c id'], [], ['a', '--built', 'b']])
    expect((await start(['import', ...args, '--yes']).ended).exit, args.join(' ')).toBe(2);
});
