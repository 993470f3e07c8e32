import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { get, post } from './wire.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

describe('a repository', () => {
  test('is cloned, changed and pushed, and the next fetch has the change', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'src/pages/index.astro': '<h1>Hi</h1>\n' });
    for (const repository of ['source', 'content'] as const) {
      const address = await platform.address(siteId, { repository });
      const [one, two] = [join(work.path, repository, 'one'), join(work.path, repository, 'two')];
      await git(work.path, ['clone', '--quiet', address, one]);
      await git(work.path, ['clone', '--quiet', address, two]);
      await commitFiles(one, { 'about.md': '# About\n' });
      await git(one, ['push', '--quiet']);
      expect(await platform.repositories.head(siteId, repository)).toBe(await git(one, ['rev-parse', 'HEAD']));
      await git(two, ['pull', '--quiet']);
      expect(await readFile(join(two, 'about.md'), 'utf8')).toBe('# About\n');
    }
  });

  test.each(['0', '1', '2'])('speaks version %s of the protocol', async (version) => {
    await using work = await folder();
    const address = await platform.address(await platform.site({ 'a.txt': 'a' }));
    const setting = ['-c', `protocol.version=${version}`];
    const { stderr } = await tryGit(work.path, [...setting, 'clone', address, '.'], '', { GIT_TRACE_PACKET: '1' });
    const banner = /git< version (\d)/.exec(stderr)?.[1] ?? '0';
    expect(banner).toBe(version);
    await commitFiles(work.path, { 'b.txt': 'b' });
    await git(work.path, [...setting, 'push', '--quiet']);
  });

  test('is cloned shallow and without files, which are fetched when needed', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const address = await platform.address(siteId);
    await git(work.path, ['clone', '--quiet', address, 'full']);
    for (const text of ['b', 'c']) await commitFiles(`${work.path}/full`, { 'a.txt': text });
    await git(`${work.path}/full`, ['push', '--quiet']);

    await git(work.path, ['clone', '--quiet', '--depth', '1', address, 'shallow']);
    expect(await git(`${work.path}/shallow`, ['rev-list', '--count', 'HEAD'])).toBe('1');
    await git(`${work.path}/shallow`, ['fetch', '--quiet', '--deepen', '1']);
    expect(await git(`${work.path}/shallow`, ['rev-list', '--count', 'HEAD'])).toBe('2');
    await commitFiles(`${work.path}/shallow`, { 'd.txt': 'd' });
    await git(`${work.path}/shallow`, ['push', '--quiet']);

    await git(work.path, ['clone', '--quiet', '--filter=blob:none', '--no-checkout', address, 'partial']);
    const absent = await git(`${work.path}/partial`, ['rev-list', '--objects', '--missing=print', 'HEAD']);
    expect(absent).toMatch(/^\?/m);
    expect(await git(`${work.path}/partial`, ['show', 'HEAD~1:a.txt'])).toBe('c');
  });

  test('accepts a push larger than a buffer, and a gzipped request', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const address = await platform.address(siteId);
    await git(work.path, ['clone', '--quiet', address, '.']);
    await commitFiles(work.path, { 'src/big.bin': randomBytes(4_000_000) });
    await git(work.path, ['-c', 'http.postBuffer=65536', 'push', '--quiet']);
    const head = await git(work.path, ['rev-parse', 'HEAD']);
    expect(await platform.repositories.head(siteId, 'source')).toBe(head);

    const body = gzipSync('0014command=ls-refs\n00010000');
    const answer = await post(address, 'git-upload-pack', body, {
      'content-encoding': 'gzip',
      'git-protocol': 'version=2',
    });
    expect(answer.status).toBe(200);
    expect(answer.type).toBe('application/x-git-upload-pack-result');
    expect(answer.text).toContain(`${head} refs/heads/main`);
  });

  test('is never answered from a cache', async () => {
    const { headers } = await get(await platform.address(await platform.site()), '/info/refs?service=git-upload-pack');
    expect(headers.get('cache-control')).toMatch(/no-cache/);
    expect(headers.get('content-type')).toBe('application/x-git-upload-pack-advertisement');
  });
});
