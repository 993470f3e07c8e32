import { afterAll, beforeAll, expect, test } from 'vitest';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

test('a site can be cloned, changed and pushed, and a second clone sees the change', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'src/pages/index.astro': '<h1>Hi</h1>\n' });
  const address = await platform.address(siteId);
  await git(work.path, ['clone', '--quiet', address, 'one']);
  const one = `${work.path}/one`;
  await commitFiles(one, { 'src/pages/about.astro': '<h1>About</h1>\n' });
  await git(one, ['push', '--quiet']);
  expect(await platform.repositories.head(siteId, 'source')).toBe(await git(one, ['rev-parse', 'HEAD']));
  await git(work.path, ['clone', '--quiet', address, 'two']);
  expect(await git(`${work.path}/two`, ['show', 'HEAD:src/pages/about.astro'])).toBe('<h1>About</h1>');
});

test('a refused push says so', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  await git(work.path, ['clone', '--quiet', await platform.address(siteId), 'one']);
  await commitFiles(`${work.path}/one`, { 'package.json': '{}' });
  const r = await tryGit(`${work.path}/one`, ['push']);
  console.log(r);
  expect(r.status).toBe(1);
});
