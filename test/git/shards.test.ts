import { mkdir, mkdtemp, rename, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { folderName, openRepositories } from '#providers/repositories.ts';
import { newId } from '#runtime/ids.ts';

test('a site whose repositories moved to another volume behind links works as before', async ({ onTestFinished }) => {
  const root = await mkdtemp(join(tmpdir(), 'frontage-shards-'));
  onTestFinished(() => rm(root, { recursive: true, force: true }));
  const [volume, other] = [join(root, 'repositories'), join(root, 'other volume')];
  await mkdir(other);
  const repositories = openRepositories(volume);
  const site = newId('site');
  const author = { name: 'Ada', email: 'ada@example.com' };
  const files = new Map([['index.html', Buffer.from('front')]]);
  await repositories.create(site, { source: files, content: files }, author, new Date(0));
  const before = await repositories.head(site, 'source');
  for (const repository of ['source', 'content'] as const) {
    const name = folderName(site, repository);
    await rename(join(volume, name), join(other, name));
    await symlink(join(other, name), join(volume, name));
  }
  const again = openRepositories(volume);
  expect(await again.siteIds()).toEqual([site]);
  expect(await again.head(site, 'source')).toBe(before);
  const changes = [{ path: 'second.html', bytes: Buffer.from('more') }];
  const after = await again.commit(site, 'source', {
    message: 'Add one',
    parent: before,
    author,
    at: new Date(0),
    changes,
  });
  expect(await again.head(site, 'source')).toBe(after);
  expect((await again.listTree(site, 'source', after as string)).map(({ path }) => path)).toEqual([
    'index.html',
    'second.html',
  ]);
  await again.create(site, { source: files, content: files }, author, new Date(0));
  expect(await again.head(site, 'source')).toBe(after);
});
