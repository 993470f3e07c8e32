import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { extract } from 'tar-stream';
import { expect, onTestFinished, test } from 'vitest';
import { executedBy, writeSnapshot } from '#activities/publishing/snapshot.ts';
import { openRepositories } from '#providers/repositories.ts';
import { createDiskStore } from '#providers/store/disk.ts';
import { newId } from '#runtime/ids.ts';

/** The files that a build of this source gets, by name. */
async function snapshotOf(source: Record<string, string>) {
  const folder = await mkdtemp(join(tmpdir(), 'snapshot-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const repositories = openRepositories(join(folder, 'git'));
  const store = createDiskStore(join(folder, 'store'));
  const siteId = newId('site');
  const trees = { source, content: { 'posts/a.md': '# A\n' } };
  const [sourceTree, contentTree] = Object.values(trees).map(
    (tree) => new Map(Object.entries(tree).map(([path, bytes]) => [path, Buffer.from(bytes)])),
  ) as [Map<string, Buffer>, Map<string, Buffer>];
  const author = { name: 'Ada', email: 'ada@example.com' };
  await repositories.create(siteId, { source: sourceTree, content: contentTree }, author, new Date());
  const sourceCommit = (await repositories.head(siteId, 'source')) as string;
  const contentCommit = await repositories.head(siteId, 'content');
  const commits = { siteId, sourceCommit, contentCommit };
  await writeSnapshot(store, repositories, 'a.tar', commits, 'without drafts', AbortSignal.timeout(30_000));
  const files: Record<string, string> = {};
  const tar = await store.scratch.read('a.tar');
  for await (const entry of tar?.pipe(extract()) ?? []) files[entry.header.name] = await text(entry);
  return { files, executed: await executedBy(store, 'a.tar') };
}

const settings = '[build]\nroot = "apps/web"\n[env]\nPUBLIC_A = "it\'s $5"\n';

test('the root folder is built alone, with the posts and the public variables', async () => {
  const { files } = await snapshotOf({
    'frontage.toml': settings,
    'apps/web/src/pages/index.astro': '<p>web</p>',
    'apps/web/_headers': '/*\n',
    'apps/web/.env.production.local': 'PUBLIC_A=other',
    'apps/website/x.txt': 'x',
    _redirects: '/a /b\n',
  });
  expect(files).toEqual({
    'src/pages/index.astro': '<p>web</p>',
    'public/_headers': '/*\n',
    'src/content/posts/a.md': '# A\n',
    '.env.production.local': "PUBLIC_A=`it's \\$5`\n",
  });
});

test('another variable is another build', async () => {
  const one = await snapshotOf({ 'frontage.toml': '[env]\nPUBLIC_A = "1"\n' });
  const other = await snapshotOf({ 'frontage.toml': '[env]\nPUBLIC_A = "2"\n' });
  expect(one.executed).not.toBe(other.executed);
});

test.each([
  ['a page among public files', 'apps/web/public/x.html', 'apps/web/public/x.html has a file format'],
  ['a script among static files', 'apps/web/src/static/x.js', 'apps/web/src/static/x.js has a file format'],
  ['text in place of a picture', 'apps/web/src/static/x.png', 'apps/web/src/static/x.png has the extension .png'],
  ['posts', 'apps/web/src/content/a.md', 'apps/web/src/content/a.md belongs in the content repository'],
  ['no files', 'apps/web', 'there is no folder apps/web/'],
  ['files in another spelling', 'Apps/Web/a.txt', 'there is no folder apps/web/'],
])('a root folder with %s fails the build', async (_what, path, message) => {
  const built = snapshotOf({ 'frontage.toml': settings, [path]: '<script></script>' });
  await expect(built).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining(message) });
});

test.each([
  ['an unknown setting', 'command = "rm"', 'has an unknown setting'],
  ['too many bytes', '#'.repeat(20_000), 'is larger than 16 KiB'],
])('settings with %s from before the rules fail the build', async (_what, file, message) => {
  const built = snapshotOf({ 'frontage.toml': file, 'a.txt': 'a' });
  await expect(built).rejects.toMatchObject({ code: 'build_failed', message: expect.stringContaining(message) });
});
