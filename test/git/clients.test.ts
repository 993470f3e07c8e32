/** Other hands than the git command: a client in JavaScript and one in Python clone and push, and read why they may not. */
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import git from 'isomorphic-git';
import http from 'isomorphic-git/http/node';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pathOf } from '#test/stack/requirements.ts';
import { folder, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const who = { name: 'Bo', email: 'bo@example.com' };

describe('isomorphic-git', () => {
  async function cloned() {
    const work = await folder();
    const siteId = await platform.site({ 'a.txt': 'one', 'src/pages/index.astro': '<h1>Hi</h1>' });
    const { username, password, origin, pathname } = new URL(await platform.address(siteId));
    const words: string[] = [];
    const remote = {
      fs,
      http,
      dir: work.path,
      url: origin + pathname,
      onAuth: () => ({ username, password }),
      onMessage: (text: string) => void words.push(text),
    };
    await git.clone(remote);
    return { siteId, words, remote, dir: work.path, [Symbol.asyncDispose]: () => work[Symbol.asyncDispose]() };
  }

  async function commit(dir: string, filepath: string, text: string): Promise<string> {
    await writeFile(join(dir, filepath), text);
    await git.add({ fs, dir, filepath });
    return git.commit({ fs, dir, message: 'Change', author: who });
  }

  test('clones, whole and shallow, and pushes', async () => {
    await using site = await cloned();
    expect(await readFile(join(site.dir, 'src/pages/index.astro'), 'utf8')).toBe('<h1>Hi</h1>');
    const made = await commit(site.dir, 'b.txt', 'two');
    const { ok } = await git.push({ ...site.remote, ref: 'main', remoteRef: 'main' });
    expect(ok).toBe(true);
    expect(await platform.repositories.head(site.siteId, 'source')).toBe(made);
    await using shallow = await folder();
    await git.clone({ ...site.remote, dir: shallow.path, depth: 1, singleBranch: true });
    expect(await git.log({ fs, dir: shallow.path })).toHaveLength(1);
    expect(await readFile(join(shallow.path, 'b.txt'), 'utf8')).toBe('two');
  });

  test('is refused with the rule’s message, and changes nothing', async () => {
    await using site = await cloned();
    const before = await platform.repositories.head(site.siteId, 'source');
    await commit(site.dir, 'package.json', '{}');
    const error = await git.push({ ...site.remote, ref: 'main' }).catch((thrown: Error) => thrown);
    expect(String(error)).toMatch(/pre-receive hook declined/);
    expect(site.words.join('')).toMatch(/package\.json is managed by the platform/);
    expect(await platform.repositories.head(site.siteId, 'source')).toBe(before);
    const closed = git.listServerRefs({ ...site.remote, onAuth: () => ({ username: 'x', password: 'y' }) });
    await expect(closed).rejects.toMatchObject({
      data: { statusCode: 401, response: expect.stringMatching(/git-credentials/) },
    });
  });
});

const script = `
import io, os, sys
from dulwich import porcelain
url, dir, name, text = sys.argv[1:]
words = io.BytesIO()
repo = porcelain.clone(url, dir, errstream=io.BytesIO())
print(sorted(path.decode() for path in repo.open_index()))
with open(os.path.join(dir, name), 'w') as file: file.write(text)
porcelain.add(repo, paths=[os.path.join(dir, name)])
print(porcelain.commit(repo, message=b'Change', author=b'Bo <bo@example.com>', committer=b'Bo <bo@example.com>').decode())
try:
    porcelain.push(repo, url, b'refs/heads/main:refs/heads/main', outstream=io.BytesIO(), errstream=words)
    print('pushed')
except Exception as error:
    print(type(error).__name__, error)
print(words.getvalue().decode())
`;

describe('dulwich', { tags: 'dulwich' }, () => {
  const run = async (siteId: string, name: string) => {
    await using work = await folder();
    const address = await platform.address(siteId);
    const args = ['-c', script, address, join(work.path, 'clone'), name, 'x'];
    const { stdout } = await promisify(execFile)(await pathOf('dulwich'), args, {
      env: { HOME: work.path, PATH: '/usr/bin:/bin' },
    });
    return stdout;
  };

  test('clones and pushes', async () => {
    const siteId = await platform.site({ 'a.txt': 'one' });
    const said = await run(siteId, 'b.txt');
    expect(said).toMatch(/\['a\.txt'\]\n[0-9a-f]{40}\npushed/);
    expect(said).toContain(await platform.repositories.head(siteId, 'source'));
  });

  test('is refused with the rule’s message, and changes nothing', async () => {
    const siteId = await platform.site({ 'a.txt': 'one' });
    const before = await platform.repositories.head(siteId, 'source');
    expect(await run(siteId, '.npmrc')).toMatch(/\.npmrc is managed by the platform/);
    expect(await platform.repositories.head(siteId, 'source')).toBe(before);
  });
});

test.each(['0', '1', '2'])('git with protocol version %s shows why a push is refused', async (version) => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'one' });
  const run = (...args: string[]) => tryGit(work.path, ['-c', `protocol.version=${version}`, ...args]);
  expect((await run('clone', '--quiet', await platform.address(siteId), '.')).status).toBe(0);
  await writeFile(join(work.path, 'yarn.lock'), 'x');
  await run('add', '--all');
  await run('commit', '--quiet', '--message', 'x');
  const { status, stderr } = await run('push');
  expect(status).not.toBe(0);
  expect(stderr).toMatch(/remote: +yarn\.lock is managed by the platform/);
});
