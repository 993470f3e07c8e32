import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { useStack } from '#test/stack/stack.ts';
import { newTerminal } from './terminal.ts';

const stack = useStack();
const name = `client-${randomBytes(4).toString('hex')}`;
/** The client as an agent gets it: from the tree that the service serves, knowing its address. */
const { token } = await stack.openOwner();
const { home, client, run, git, close } = await newTerminal(`${stack.baseUrl}/skill/bin/frontage.mjs`, {
  FRONTAGE_TOKEN: token,
});
afterAll(close);

test('the client and git alone create, clone, change, push and publish a site', {
  timeout: 240_000,
}, async () => {
  const made = await run([
    'site',
    'create',
    '--name',
    name,
    '--title',
    'By the client',
    '--template',
    'blank',
    '--json',
  ]);
  expect([made.exit, made.body.name]).toEqual([0, name]);
  const folder = join(home, 'site');
  expect((await run(['clone', name, folder])).exit).toBe(0);
  expect(existsSync(join(folder, 'src', 'content', 'posts', 'hello.md'))).toBe(true);
  const page = join(folder, 'src', 'pages', 'index.astro');
  await writeFile(
    page,
    '---\n---\n<html lang="en"><head><title>T</title></head><body><h1>Made by the client</h1></body></html>\n',
  );
  await git(folder, 'commit', '-qam', 'Say who made it');
  await git(folder, 'push', '-q');
  const published = await run(['publish', name]);
  expect([published.exit, published.err]).toEqual([0, expect.stringMatching(/building|Building|astro/i)]);
  expect(published.err).toContain(`✓ Version 1 is live: ${made.body.address}`);
  expect((await stack.visit(name, '/')).text).toContain('Made by the client');
  expect((await run(['open', name])).out.trim()).toBe(made.body.address);

  await writeFile(page, '---\nconst broken = ;\n---\n');
  await git(folder, 'commit', '-qam', 'Break it');
  await git(folder, 'push', '-q');
  const broken = await run(['publish', name]);
  expect([broken.exit, broken.err]).toEqual([1, expect.stringContaining('(build_failed)')]);
  expect((await stack.visit(name, '/')).text).toContain('Made by the client');
});

test('built output is published unchanged, without the files of the system', { timeout: 120_000 }, async () => {
  const output = join(home, 'dist');
  await mkdir(join(output, 'a'), { recursive: true });
  await writeFile(join(output, 'index.html'), '<!doctype html><title>T</title><p>Built elsewhere');
  await writeFile(join(output, 'a', 'b.txt'), 'b');
  await writeFile(join(output, 'a', '.DS_Store'), 'x');
  const first = await run(['deploy', name, output]);
  expect([first.exit, first.err]).toEqual([0, expect.stringContaining('Left out: a/.DS_Store')]);
  const visited = async (path: string) => (await stack.visit(name, path)).text;
  await expect.poll(() => visited('/')).toContain('Built elsewhere');
  await writeFile(join(output, 'a', 'b.txt'), 'c');
  expect((await run(['deploy', name, output])).exit).toBe(0);
  await expect.poll(() => visited('/a/b.txt')).toBe('c');
});

test('a project is imported from git, and what another generator built replaces it', {
  timeout: 240_000,
}, async () => {
  const project = join(home, `Shop_${name}`);
  const files = {
    'package.json': '{ "name": "small", "dependencies": { "astro": "^5.0.0", "three": "1.0.0" } }',
    'frontage.toml': '[build]\nroot = "web"\n[env]\nPUBLIC_TOWN = "Bath"\n',
    'web/astro.config.mjs': 'export default {};\n',
    'web/public/robots.txt': 'User-agent: *\n',
    'web/public/legacy.html': '<script>1</script>',
    'web/public/js/theme.min.js': "document.body.title = '1';",
    'web/public/old.swf': 'x',
    'web/public/_redirects': '/old / 301\n',
    'web/src/content/config.ts': `import { defineCollection } from 'astro:content';
import { glob } from 'astro/loaders';
export const collections = { blog: defineCollection({ loader: glob({ pattern: '*.md', base: 'src/content/blog' }) }) };
`,
    'web/src/content/blog/first.md': '---\ntitle: First\n---\n\nThe first post.\n',
    'web/src/content/blog/Chart.jsx': 'export default 1;\n',
    'web/src/pages/index.astro': `---
import { getCollection } from 'astro:content';
const posts = await getCollection('blog');
---
<html lang="en"><head><title>Small</title></head><body><h1>{posts.map(({ id }) => id)} in {import.meta.env.PUBLIC_TOWN}</h1></body></html>
`,
    'web/src/unused.ts': "import 'three';\n",
  };
  await git(home, 'init', '-q', project);
  for (const [path, text] of Object.entries(files)) {
    await mkdir(join(project, path, '..'), { recursive: true });
    await writeFile(join(project, path), text);
  }
  await git(project, 'add', '-A');
  await git(project, 'commit', '-qm', 'Make it');
  const asked = await run(['import', `file://${project}`]);
  expect([asked.exit, asked.err]).toEqual([4, expect.stringContaining('Repeat it with --yes.')]);
  for (const line of [
    'public/ → src/static/: web/public/robots.txt',
    'web/src/content/config.ts → web/src/content.config.ts',
    'public/ → src/beside-public/, with endpoints in src/pages/: web/public/js/theme.min.js, web/public/legacy.html',
    'left out, no file of this format is served unchanged: web/public/old.swf',
    'left out, the platform has its own: package.json',
    'web/src/content/blog/Chart.jsx → web/src/beside-content/blog/Chart.jsx',
    'not offered: three in web/src/unused.ts',
    `Makes the site shop-${name}, and publishes it.`,
  ])
    expect(asked.err).toContain(line);
  const site = `shop-${name}`;
  expect((await run(['site', 'list', '--json'])).body.items.map((one: { name: string }) => one.name)).not.toContain(
    site,
  );

  const made = await run(['import', `file://${project}`, '--yes']);
  expect([made.exit, made.err]).toEqual([0, expect.stringContaining('✓ Version 1 is live')]);
  const visited = async (path: string) => (await stack.visit(site, path)).text;
  expect(await visited('/')).toContain('<h1>first in Bath</h1>');
  expect(await visited('/robots.txt')).toBe('User-agent: *\n');
  expect(await visited('/js/theme.min.js')).toBe("document.body.title = '1';");
  expect(await visited('/legacy')).toBe('<script>1</script>');
  expect((await stack.visit(site, '/old')).status).toBe(301);

  await writeFile(join(project, 'web', 'src', 'content', 'blog', 'logo.png'), 'no picture');
  const refused = await run(['import', project, '--site', site, '--yes']);
  expect([refused.exit, refused.err]).toEqual([1, expect.stringContaining('blog/logo.png')]);
  expect(refused.err).toContain(`then: frontage import '${project}' --site ${site}`);

  const output = join(home, 'built');
  await mkdir(output);
  await writeFile(join(output, 'index.html'), '<!doctype html><title>T</title><p>Built by another');
  expect((await run(['import', '--built', output, '--site', site, '--yes'])).exit).toBe(0);
  await expect.poll(() => visited('/')).toContain('Built by another');
  expect((await run(['deploy', site, output])).exit).toBe(0);
  for (const args of [[join(home, 'nothing')], ['ext::sh -c id'], [], ['a', '--built', 'b']])
    expect((await run(['import', ...args, '--yes'])).exit, args.join(' ')).toBe(2);
});

test('flags become request bodies as described: text, numbers, lists, files', async () => {
  const { id } = (await run(['site', 'list', '--json'])).body.items[0];
  const fields = join(home, 'fields.json');
  await writeFile(fields, JSON.stringify([{ name: 'word', label: 'A word', kind: 'text', required: true }]));
  const made = await run(['form', 'create', id, '--name', 'Contact', '--fields', `@${fields}`, '--json']);
  expect([made.exit, made.body.fields[0].name]).toEqual([0, 'word']);
  const link = await run(['upload', 'create', id, '--expires-in-seconds', '3600', '--max-files=2', '--json']);
  expect([link.exit, link.body.files_left]).toEqual([0, 2]);
  await writeFile(join(home, 'paper.pdf'), '%PDF-1.7\n%%EOF\n');
  const asset = await run(['asset', 'write', id, 'public/paper.pdf', '--file', join(home, 'paper.pdf'), '--json']);
  expect([asset.exit, asset.body.bytes]).toEqual([0, 15]);
  expect((await run(['asset', 'read', id, 'public/paper.pdf'])).out).toBe('%PDF-1.7\n%%EOF\n');
  const listed = await run(['form', 'list', id]);
  expect(listed.out).toMatch(/^id +name +status .*\nform_\w+ +Contact +enabled /);
});

test('each outcome has its exit code and names the next step', async () => {
  const ends = async (args: string[], env = {}) => {
    const { exit, err } = await run(args, { env });
    return [exit, err];
  };
  expect(await ends(['site', 'read', 'site_01h455vb4pex5vsknk084sn02q'])).toEqual([
    1,
    expect.stringMatching(/✗ .*\(not_found\)\n→ .*\n {2}request req_[0-9a-f]{24}\n/),
  ]);
  expect(await ends(['publish', 'nothing-of-mine'])).toEqual([1, expect.stringContaining('→ frontage site list')]);
  expect(await ends(['site', 'create', '--nome', 'x'])).toEqual([
    2,
    expect.stringContaining('→ frontage site create --name … --title …'),
  ]);
  expect(await ends(['nonsense'])).toEqual([2, expect.stringContaining('→ frontage --help')]);
  expect(
    await ends(['login', '--url', stack.baseUrl], { FRONTAGE_TOKEN: '', XDG_CONFIG_HOME: join(home, 'empty') }),
  ).toEqual([2, expect.stringContaining('--email is required')]);
  expect(await ends(['site', 'list'], { FRONTAGE_TOKEN: 'fro_wrong' })).toEqual([
    4,
    expect.stringContaining('→ frontage login'),
  ]);
  expect(await ends(['site', 'list', '--url', 'http://127.0.0.1:1'])).toEqual([
    1,
    expect.stringContaining('did not respond'),
  ]);
  const refused = await run(['site', 'read', 'site_01h455vb4pex5vsknk084sn02q', '--json']);
  expect([refused.exit, refused.body.error.code]).toEqual([1, 'not_found']);
  expect(refused.err).toMatch(/^ {2}request req_[0-9a-f]{24}$/m);
});

test('the help lists and describes every call', async () => {
  const all = await run(['--help']);
  expect([all.exit, all.out]).toEqual([0, expect.stringContaining('frontage publish <site>')]);
  const document = (await (await fetch(`${stack.baseUrl}/openapi.json`)).json()) as {
    paths: Record<string, Record<string, { operationId: string }>>;
  };
  const operations = Object.values(document.paths).flatMap((methods) =>
    Object.values(methods).map(({ operationId }) => operationId),
  );
  for (const operation of operations) {
    const [noun = '', verb = ''] = operation.replaceAll('_', '-').split('.');
    expect(all.out).toMatch(new RegExp(`^  ${noun} .*\\b${verb}\\b`, 'm'));
  }
  const one = await run(['site', 'create', '--help']);
  expect([one.exit, one.out]).toEqual([
    0,
    expect.stringMatching(/^frontage site create --name … --title … .*\n\nCreate a site\./),
  ]);
});

test('bash completes the name of an operation', { tags: 'bash' }, async () => {
  // biome-ignore lint/suspicious/noTemplateCurlyInString: it is bash's.
  const completing = 'source <(cat); COMP_WORDS=(frontage site pu); COMP_CWORD=2; _frontage; echo "${COMPREPLY[@]}"';
  const { out } = await run(['completion', 'bash']);
  const words = await new Promise<string>((resolve, reject) => {
    const bash = execFile('bash', ['-c', completing], (error, said) => (error ? reject(error) : resolve(said)));
    bash.stdin?.end(out);
  });
  expect(words.trim()).toBe('publish');
});

test('the skill is read and written to disk, including the client', async () => {
  expect((await run(['skill'])).out).toMatch(/^---\nname: frontage\n/);
  expect((await run(['skill', 'stages/design.md'])).out).toContain('# Design');
  const into = join(home, 'skill');
  expect((await run(['skill', '--into', into])).exit).toBe(0);
  expect(await readFile(join(into, 'bin', 'frontage.mjs'), 'utf8')).toBe(await readFile(client, 'utf8'));
});

test('the client runs on Node 20', { tags: 'node' }, async () => {
  expect((await run(['site', 'list', '--json'], { binary: await pathOf('node') })).exit).toBe(0);
});
