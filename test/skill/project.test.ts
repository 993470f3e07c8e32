/** What becomes of each file of a project that is imported. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { addressOf, folderIn } from '#skill/client/checkout.js';
import { planOf } from '#skill/client/project.js';
import { changedImports } from '#skill/client/project-imports.js';
import { quickest } from '#test/stack/quickest.ts';

const folder = await mkdtemp(join(tmpdir(), 'frontage-project-'));
afterAll(() => rm(folder, { recursive: true, force: true }));

const source = (path: string) => ({ repository: 'source', path });
const content = (path: string) => ({ repository: 'content', path });
const dropped = (why: string) => ({ why });

const files: Record<string, { repository: string; path: string } | { why: string }> = {
  'astro.config.mjs': source('astro.config.mjs'),
  'frontage.toml': source('frontage.toml'),
  'package.json': dropped('the platform has its own'),
  'packages/a/PNPM-LOCK.yaml': dropped('the platform has its own'),
  '.env': dropped('hidden'),
  '.github/workflows/ci.yml': dropped('hidden'),
  'GIT~1/hooks/pre-commit': dropped('a name that some systems treat as the .git folder'),
  'public/robots.txt': source('src/static/robots.txt'),
  'public/img/A.PNG': source('src/static/img/A.PNG'),
  'public/.well-known/security.txt': source('src/static/.well-known/security.txt'),
  'public/.well-known/apple-app-site-association': source('src/static/.well-known/apple-app-site-association'),
  'public/.well-known/.hidden': dropped('hidden'),
  'public/dist/print.pdf': source('src/static/dist/print.pdf'),
  'public/legacy.html': source('src/beside-public/legacy.html'),
  'public/fonts/a.min.woff': source('src/beside-public/fonts/a.min.woff'),
  'public/old.swf': dropped('no file of this format is served unchanged'),
  'public/_draft.js': dropped('no file of this format is served unchanged'),
  'public/[id].js': dropped('no file of this format is served unchanged'),
  'public/_headers': source('_headers'),
  'public/_redirects': source('_redirects'),
  'src/assets/hero.avif': source('src/assets/hero.avif'),
  'src/assets/data.ts': source('src/beside-assets/data.ts'),
  'src/assets/team.json': source('src/beside-assets/team.json'),
  'src/assets/film.mov': dropped('src/assets/ takes pictures, fonts and styles'),
  'src/content.config.ts': source('src/content.config.ts'),
  'src/content/config.ts': dropped('same place as src/content.config.ts'),
  'src/content/blog/first.md': content('blog/first.md'),
  'src/content/docs/second.mdoc': content('docs/second.mdoc'),
  'src/content/blog/Chart.jsx': source('src/beside-content/blog/Chart.jsx'),
  'src/content/blog/logo.svg': dropped('no format of content'),
  'src/lib/dist/index.js': source('src/lib/dist/index.js'),
  'src/pages/index.astro': source('src/pages/index.astro'),
  'src/static/already.txt': source('src/static/already.txt'),
};

test('imports of code that moves are changed, and others stay', async () => {
  const project = await mkdtemp(join(folder, 'imports-'));
  const files = {
    'src/content/blog/a.mdx': `import Chart from './Chart.jsx';\nimport { Card } from "../../components/Card.astro";\nimport('./later.js');\n`,
    'src/content/blog/Chart.jsx': `import photo from './photo.png';\nimport { Card } from '../../components/Card.astro';\nimport './later.js';\nimport x from 'x';\n`,
    'src/content/blog/later.js': 'export {};\n',
    'src/content/blog/photo.png': '',
    'src/content/config.ts': `import { x } from '../x.ts';\n`,
    'src/components/Card.astro': `---\nimport Chart from '../content/blog/Chart.jsx';\n---\n`,
    'src/x.ts': `import './y.ts';\n`,
    'src/pages/rss.ts': `import { collections } from '../content/config';\nimport x from '../content/blog/Chart';\n`,
    'src/pages/index.astro': `---\nimport logo from '../../public/logo.png';\nimport menu from '../assets/menu.js';\n---\n`,
    'src/assets/menu.js': `import './menu.css';\nimport { x } from '@/x';\n`,
    'src/assets/data/index.ts': '',
    'src/pages/alias.astro': `---\nimport Chart from '@/content/blog/Chart';\nimport menu from '/src/assets/menu.js?raw';\nimport data from "~assets/data";\nimport { x } from '@/x';\nimport '@/assets/menu.css';\n---\n`,
    'tsconfig.json': `{ // Aliases\n"compilerOptions": { "baseUrl": "./src", "paths": { "@/*": ["./*"], "~assets/*": ["assets/*"] } } }`,
    'public/logo.png': '',
    'public/a.js': `import './logo.png';\n`,
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  expect(Object.fromEntries(await changedImports(project, await planOf(project)))).toEqual({
    'src/content/blog/a.mdx': `import Chart from '../../beside-content/blog/Chart.jsx';\nimport { Card } from "../../components/Card.astro";\nimport('../../beside-content/blog/later.js');\n`,
    'src/content/blog/Chart.jsx': `import photo from '../../content/blog/photo.png';\nimport { Card } from '../../components/Card.astro';\nimport './later.js';\nimport x from 'x';\n`,
    'src/content/config.ts': `import { x } from './x.ts';\n`,
    'src/components/Card.astro': `---\nimport Chart from '../beside-content/blog/Chart.jsx';\n---\n`,
    'src/pages/rss.ts': `import { collections } from '../content.config';\nimport x from '../beside-content/blog/Chart';\n`,
    'src/pages/index.astro': `---\nimport logo from '../static/logo.png';\nimport menu from '../beside-assets/menu.js';\n---\n`,
    'src/assets/menu.js': `import '../assets/menu.css';\nimport { x } from '@/x';\n`,
    'src/pages/alias.astro': `---\nimport Chart from '../beside-content/blog/Chart';\nimport menu from '../beside-assets/menu.js?raw';\nimport data from "../beside-assets/data";\nimport { x } from '@/x';\nimport '@/assets/menu.css';\n---\n`,
  });
});

test('what git ignores is left out, in a repository and outside one', async () => {
  const project = await mkdtemp(join(folder, 'ignored-'));
  const files = {
    '.gitignore': '*.key\n/reports/\n!public.key\n/web/\n',
    'a.key': '',
    'src/pages/index.astro': '',
    'src/b.key': '',
    'src/kept/.gitignore': '!c.key\n',
    'src/kept/c.key': '',
    'src/public.key': '',
    'reports/2026/über.pdf': '',
    'web/.gitignore': 'd.txt\n',
    'web/d.txt': '',
    'web/e.txt': '',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const ignored = async (below = '') => {
    const { dropped } = await planOf(join(project, below));
    return dropped.filter(({ why }) => why === 'git ignores it').map(({ path }) => path);
  };
  const outside = ['a.key', 'reports/2026/über.pdf', 'src/b.key', 'web/.gitignore', 'web/d.txt', 'web/e.txt'];
  expect(await ignored()).toEqual(outside);
  execFileSync('git', ['init', '--quiet', project]);
  execFileSync('git', ['-C', project, 'add', '--force', 'a.key']);
  expect(await ignored()).toEqual(outside.slice(1));
  // The rules of the folders above count, unless they ignore the project itself.
  expect(await ignored('src')).toEqual(['b.key']);
  expect(await ignored('web')).toEqual(['d.txt']);
});

test.each([
  ['../shop', undefined],
  ['git@github.com:a/b.git', { url: 'git@github.com:a/b.git', root: '' }],
  ['https://github.com/a/tree', { url: 'https://github.com/a/tree', root: '' }],
  ['https://github.com/a/b/tree/main', { url: 'https://github.com/a/b', branch: 'main', root: '' }],
  [
    'https://github.com/a/tree/tree/v1%2Ex/examples/a%20b/?tab=1#x',
    { url: 'https://github.com/a/tree', branch: 'v1.x', root: 'examples/a b/' },
  ],
  ['https://gitlab.com/a/b/c/-/tree/main/d', { url: 'https://gitlab.com/a/b/c', branch: 'main', root: 'd' }],
])('the project %s has its parts', (project, parts) => {
  expect(addressOf(project)).toEqual(parts);
});

test('a folder of a project is in it', async () => {
  const project = await mkdtemp(join(folder, 'folder-'));
  await mkdir(join(project, 'a', 'b'), { recursive: true });
  await symlink(tmpdir(), join(project, 'a', 'out'));
  await writeFile(join(project, 'file'), '');
  expect(folderIn(project, '')).toBe(await realpath(project));
  expect(folderIn(project, 'a/b/')).toBe(await realpath(join(project, 'a', 'b')));
  for (const root of ['a/out', '..', 'a/../..', 'file', 'none'])
    expect(() => folderIn(project, root)).toThrow(`There is no folder ${root} in the project.`);
});

test('files outside the root of a monorepo stay where they are', async () => {
  const monorepo = await mkdtemp(join(folder, 'monorepo-'));
  const built = ['web/public/a.txt', 'web/src/content/b.md', 'web/src/pages/index.astro'];
  const others = ['public/x.html', 'packages/ui/src/content/c.md', 'packages/ui/package.json'];
  for (const path of [...built, ...others]) {
    await mkdir(dirname(join(monorepo, path)), { recursive: true });
    await writeFile(join(monorepo, path), '');
  }
  await writeFile(join(monorepo, 'frontage.toml'), '[build]\nroot = "web"\n');
  const { source, content, dropped } = await planOf(monorepo);
  expect(Object.fromEntries(source)).toEqual({
    'frontage.toml': 'frontage.toml',
    'packages/ui/src/content/c.md': 'packages/ui/src/content/c.md',
    'public/x.html': 'public/x.html',
    'web/src/pages/index.astro': 'web/src/pages/index.astro',
    'web/src/static/a.txt': 'web/public/a.txt',
  });
  expect(Object.fromEntries(content)).toEqual({ 'b.md': 'web/src/content/b.md' });
  expect(dropped).toEqual([{ path: 'packages/ui/package.json', why: 'the platform has its own' }]);
});

test('each file of a project has a place or a reason to be dropped', async () => {
  const project = await mkdtemp(join(folder, 'each-'));
  const skipped = ['node_modules/a/index.js', 'dist/index.html', 'packages/a/dist/x.js', '.git/HEAD'];
  for (const path of [...Object.keys(files), ...skipped]) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), path);
  }
  await symlink('/etc', join(project, 'src', 'etc'));
  const plan = await planOf(project);
  const found = [
    ...(['source', 'content'] as const).flatMap((repository) =>
      [...plan[repository]].map(([path, from]) => [from, { repository, path }]),
    ),
    ...plan.dropped.map(({ path, why }) => [path, { why }]),
  ];
  expect(Object.fromEntries(found)).toEqual({ ...files, 'src/etc': dropped('not a regular file') });
});

test('a hostile project is read at once, and not what its links lead to', async () => {
  const project = await mkdtemp(join(folder, 'hostile-'));
  const files = {
    'src/content/Chart.jsx': `from${' '.repeat(100_000)}x`,
    'web/public/a.txt': '',
  };
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(project, path)), { recursive: true });
    await writeFile(join(project, path), text);
  }
  const read = async () => void (await changedImports(project, await planOf(project)));
  await writeFile(join(project, 'frontage.toml'), `[build]\n${'\n'.repeat(100_000)}`);
  expect(await quickest(2_000, read)).toBeLessThan(2_000);
  await rm(join(project, 'frontage.toml'));
  await writeFile(join(folder, 'outside.toml'), '[build]\nroot = "web"\n');
  await symlink(join(folder, 'outside.toml'), join(project, 'frontage.toml'));
  const { source, dropped } = await planOf(project);
  expect(source.has('web/public/a.txt')).toBe(true);
  expect(dropped).toContainEqual({ path: 'frontage.toml', why: 'not a regular file' });
});
