import { randomBytes } from 'node:crypto';
import { mkdir, readFile, stat, utimes, writeFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { Site } from '../../db/entities/site.ts';
import { gitRoutes } from '../../git/http.ts';
import { newId } from '../../ids.ts';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { gitProcesses, stateOf } from './state.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ push_bytes: 6_000_000, file_bytes: 8_000_000 });
});
afterAll(() => platform.close());

const day = 86_400;

describe('a repository', () => {
  test('can be cloned, changed and pushed, and the next fetch brings the change', async () => {
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

  test('can be cloned shallow and without its files, which come when they are needed', async () => {
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

  test('takes a push that is larger than one buffer, and a gzipped request', async () => {
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

/** Splits the user name and password off an address, as fetch wants it. */
function opened(address: string) {
  const { username, password, origin, pathname } = new URL(address);
  const basic = Buffer.from(`${username}:${password}`).toString('base64');
  return { url: origin + pathname, authorization: `Basic ${basic}` };
}

async function get(address: string, path: string, headers: Record<string, string> = {}) {
  const { url, authorization } = opened(address);
  const response = await fetch(url + path, { headers: { authorization, ...headers } });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

async function post(
  address: string,
  service: string,
  body: Uint8Array<ArrayBuffer> | string,
  headers: Record<string, string> = {},
) {
  const { url, authorization } = opened(address);
  const response = await fetch(`${url}/${service}`, {
    method: 'POST',
    headers: { authorization, 'content-type': `application/x-${service}-request`, ...headers },
    body,
  });
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() };
}

describe('a password', () => {
  test('that is wrong, has run out or belongs elsewhere opens nothing, and git says why', async () => {
    await using work = await folder();
    const [siteId, other] = [await platform.site({ 'a.txt': 'a' }), await platform.site()];
    const right = new URL(await platform.address(siteId));
    const clone = async (change: (url: URL) => void) => {
      const url = new URL(right);
      change(url);
      return (await tryGit(work.path, ['clone', url.href, 'x'])).stderr;
    };
    const set = (part: 'password' | 'username' | 'pathname', value: string) => (url: URL) => {
      url[part] = value;
    };
    expect(await clone(set('password', 'wrong'))).toMatch(
      /remote: Unknown user name or wrong password[\s\S]*Authentication failed/,
    );
    expect(await clone(set('username', 'git-nobody'))).toMatch(/Unknown user name or wrong password/);
    expect(await clone(set('password', platform.token))).toMatch(/A bearer token is no git password/);
    expect(await clone(set('pathname', `/git/${other}.git`))).toMatch(/no repository at this address[\s\S]*not found/);
    expect(await clone(set('pathname', `/git/${siteId}.content.git`))).toMatch(/no repository at this address/);
    expect(await clone(set('pathname', `/git/${newId('site')}.git`))).toMatch(/no repository at this address/);
    const short = await platform.address(siteId, { seconds: 60 });
    await git(work.path, ['clone', '--quiet', short, 'y']);
    platform.wait(60_000);
    expect((await tryGit(work.path, ['clone', short, 'z'])).stderr).toMatch(/This password has run out/);
  });

  test('has to be sent', async () => {
    const { url } = opened(await platform.address(await platform.site(), { seconds: day }));
    const path = '/info/refs?service=git-upload-pack';
    const none = await fetch(url + path);
    expect(none.status).toBe(401);
    expect(none.headers.get('www-authenticate')).toBe('Basic realm="git", charset="UTF-8"');
    for (const authorization of [
      `Bearer ${platform.token}`,
      'Basic',
      'Basic !!!',
      'Basic OnB3',
      'Basic AGE6Yg==',
      'Digest x',
    ]) {
      const answer = await fetch(url + path, { headers: { authorization } });
      expect([authorization, answer.status]).toEqual([authorization, 401]);
    }
  });

  test('for reading alone clones and does not push', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId, { access: 'read', seconds: day }), '.']);
    await commitFiles(work.path, { 'b.txt': 'b' });
    const before = await stateOf(platform, siteId);
    expect((await tryGit(work.path, ['push'])).stderr).toMatch(/remote: This password may only read/);
    expect(
      (await post(await platform.address(siteId, { access: 'read', seconds: day }), 'git-receive-pack', '0000')).status,
    ).toBe(403);
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('still fetches from an archived site, and pushes no more', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const address = await platform.address(siteId, { seconds: day });
    await git(work.path, ['clone', '--quiet', address, 'one']);
    const archived = { status: 'archived', archivedAt: platform.deps.clock.now() } as const;
    await platform.deps.em().nativeUpdate(Site, { id: siteId }, archived);
    await git(work.path, ['clone', '--quiet', address, 'two']);
    await commitFiles(`${work.path}/one`, { 'b.txt': 'b' });
    expect((await tryGit(`${work.path}/one`, ['push'])).stderr).toMatch(
      /remote: The site \w+ is archived and takes no push/,
    );
    const answer = await platform.call('POST', `/v1/sites/${siteId}/commits`, {
      message: 'x',
      changes: [{ path: 'a', text: 'b' }],
    });
    expect(answer).toMatchObject({ status: 409, body: { error: { code: 'site_archived' } } });
  });
});

describe('a request', () => {
  const paths = [
    '/git/x.git/info/refs?service=git-upload-pack',
    '/git/..%2f..%2fetc.git/info/refs?service=git-upload-pack',
    '/git/site_.git/info/refs',
    '/git/%00.git/info/refs',
    '/git/',
  ];
  test.each(paths)('for %s finds nothing', async (path) => {
    expect((await fetch(platform.url + path)).status).toBeGreaterThanOrEqual(400);
    expect((await fetch(platform.url + path)).status).toBeLessThan(405);
  });

  test('for files of the repository or other services of git is refused', async () => {
    const address = await platform.address(await platform.site(), { seconds: day });
    for (const path of [
      '/HEAD',
      '/objects/info/packs',
      '/config',
      '/info/refs?service=git-upload-archive',
      '/info/refs',
    ]) {
      const { status } = await get(address, path);
      expect([path, [403, 404].includes(status)]).toEqual([path, true]);
    }
  });

  test('with another Git-Protocol than a version is answered as if it had none', async () => {
    const address = await platform.address(await platform.site({ 'a.txt': 'a' }), { seconds: day });
    const path = '/info/refs?service=git-upload-pack';
    const plain = await get(address, path);
    const odd = await get(address, path, { 'git-protocol': 'version=2:core.hooksPath=/tmp' });
    expect(odd.text).toBe(plain.text);
    expect((await get(address, path, { 'git-protocol': 'version=2' })).text).toMatch(/^000eversion 2/);
  });

  const zeros = '0'.repeat(40);
  const command = `${zeros} ${'1'.repeat(40)} refs/heads/main\0 report-status side-band-64k`;
  const line = (text: string) => (text.length + 4).toString(16).padStart(4, '0') + text;
  const broken: [string, Buffer<ArrayBuffer>, Record<string, string>][] = [
    ['noise', Buffer.from('hello'), {}],
    ['a length that is none', Buffer.from('zzzz'), {}],
    ['a line shorter than it says', Buffer.from('00ffabc'), {}],
    ['no pack behind the commands', Buffer.from(`${line(command)}0000`), {}],
    ['a pack of noise', Buffer.from(`${line(command)}0000PACK${'x'.repeat(500)}`), {}],
    [
      'a pack that promises more than it holds',
      Buffer.concat([Buffer.from(`${line(command)}0000PACK`), Buffer.from([0, 0, 0, 2, 0, 0, 1, 0])]),
      {},
    ],
    ['a body that says gzip and is not', Buffer.from('0000'), { 'content-encoding': 'gzip' }],
    ['a gzip cut short', gzipSync(Buffer.from(`${line(command)}0000`)).subarray(0, 30), { 'content-encoding': 'gzip' }],
    ['a compression that git does not use', Buffer.from('0000'), { 'content-encoding': 'br' }],
    [
      'a line with an odd branch',
      Buffer.from(`${line(`${zeros} ${'1'.repeat(40)} refs/heads/../../x\0 report-status`)}0000`),
      {},
    ],
  ];
  test.each(broken)('to push with %s changes nothing and is no fault', async (_what, body, headers) => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const before = await stateOf(platform, siteId);
    const { status, text } = await post(
      await platform.address(siteId, { seconds: day }),
      'git-receive-pack',
      body,
      headers,
    );
    expect(status === 400 || (status === 200 && /unpack (?!ok)|fatal|error|ng /.test(text)), `${status} ${text}`).toBe(
      true,
    );
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]));
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('with a body of another type is refused', async () => {
    const address = await platform.address(await platform.site(), { seconds: day });
    const answer = await post(address, 'git-receive-pack', '0000', { 'content-type': 'application/json' });
    expect(answer.status).toBe(415);
  });
});

describe('a push', () => {
  test('over the cap is refused with a line that says so', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: day }), '.']);
    await commitFiles(work.path, { 'src/big.bin': randomBytes(7_000_000) });
    const before = await stateOf(platform, siteId);
    for (const buffer of ['65536', '100000000']) {
      const { status, stderr } = await tryGit(work.path, ['-c', `http.postBuffer=${buffer}`, 'push']);
      expect(stderr).toMatch(/remote: This push is larger than 5 MiB, the cap for one push/);
      expect(status).not.toBe(0);
    }
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]));
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('whose body inflates beyond the cap is cut off', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const bomb = gzipSync(Buffer.concat([Buffer.from('0000PACK'), Buffer.alloc(50_000_000)]));
    const sent = post(await platform.address(siteId, { seconds: day }), 'git-receive-pack', bomb, {
      'content-encoding': 'gzip',
    });
    expect((await sent).status).toBe(400);
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]));
  });

  test('whose client goes away in the middle leaves nothing', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const before = await stateOf(platform, siteId);
    const half = await startPush(platform.url, siteId);
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]));
    half.destroy();
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]));
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('whose client falls silent is cut off', async () => {
    const app = Fastify();
    gitRoutes(app, platform.deps, { idleMs: 100, workMs: 1000 });
    await using closing = {
      url: await app.listen({ host: '127.0.0.1', port: 0 }),
      [Symbol.asyncDispose]: () => app.close(),
    };
    const siteId = await platform.site({ 'a.txt': 'a' });
    const before = await stateOf(platform, siteId);
    const half = await startPush(closing.url, siteId);
    await new Promise((done) => half.on('close', done));
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]));
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('removes what killed ones have left, and nothing of one that runs', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const { dir } = platform.repositories.place(siteId, 'source');
    const [left, runs] = [join(dir, 'objects/tmp_objdir-incoming-left'), join(dir, 'objects/tmp_objdir-incoming-runs')];
    const lock = join(dir, 'refs/heads/main.lock');
    for (const path of [left, runs]) await mkdir(join(path, 'pack'), { recursive: true });
    await writeFile(lock, '');
    const { mtimeMs } = await stat(lock);
    await utimes(left, new Date(mtimeMs), new Date(mtimeMs - 3_700_000));
    await utimes(lock, new Date(mtimeMs), new Date(mtimeMs - 61_000));
    await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: day }), '.']);
    await commitFiles(work.path, { 'b.txt': 'b' });
    await git(work.path, ['push', '--quiet']);
    expect((await stateOf(platform, siteId)).quarantines).toEqual(['tmp_objdir-incoming-runs']);
  });

  /** Sends the beginning of a push and goes on holding the line. */
  async function startPush(origin: string, siteId: string) {
    const address = new URL(await platform.address(siteId, { seconds: day }));
    const { authorization } = opened(address.href);
    const sending = request(`${origin}${address.pathname}/git-receive-pack`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-git-receive-pack-request' },
    });
    sending.on('error', () => {});
    const head = (await platform.repositories.head(siteId, 'source')) ?? '';
    const text = `${head} ${'1'.repeat(40)} refs/heads/main\0 report-status side-band-64k`;
    sending.write(`${(text.length + 4).toString(16).padStart(4, '0')}${text}0000PACK`);
    sending.write(Buffer.from([0, 0, 0, 2, 0, 0, 1, 0]));
    return sending;
  }
});
