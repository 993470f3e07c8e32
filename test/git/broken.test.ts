import { randomBytes } from 'node:crypto';
import { mkdir, stat, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Fastify from 'fastify';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { gitRoutes } from '#git/http.ts';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { gitProcesses, stateOf } from './state.ts';
import { get, post, startPush } from './wire.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform({ push_bytes: 6_000_000, file_bytes: 8_000_000 });
});
afterAll(() => platform.close());

const day = 86_400;
const ended = (siteId: string) =>
  vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]), { timeout: 20_000 });

describe('a request', () => {
  const paths = [
    '/git/x.git/info/refs?service=git-upload-pack',
    '/git/..%2f..%2fetc.git/info/refs?service=git-upload-pack',
    '/git/site_.git/info/refs?service=git-upload-pack',
    '/git/%00.git/info/refs?service=git-upload-pack',
    '/git/',
  ];
  test.each(paths)('for %s finds nothing', async (path) => {
    expect((await fetch(platform.url + path)).status).toBe(404);
  });

  test('for files of the repository or other git services is refused', async () => {
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

  test('with an unknown Git-Protocol is answered as if it had none', async () => {
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
    ['an invalid length', Buffer.from('zzzz'), {}],
    ['a line shorter than its length', Buffer.from('00ffabc'), {}],
    ['no pack after the commands', Buffer.from(`${line(command)}0000`), {}],
    ['a pack of noise', Buffer.from(`${line(command)}0000PACK${'x'.repeat(500)}`), {}],
    [
      'a pack with fewer objects than announced',
      Buffer.concat([Buffer.from(`${line(command)}0000PACK`), Buffer.from([0, 0, 0, 2, 0, 0, 1, 0])]),
      {},
    ],
    ['a body that is not the announced gzip', Buffer.from('0000'), { 'content-encoding': 'gzip' }],
    ['a truncated gzip', gzipSync(Buffer.from(`${line(command)}0000`)).subarray(0, 30), { 'content-encoding': 'gzip' }],
    ['a compression that git does not use', Buffer.from('0000'), { 'content-encoding': 'br' }],
    [
      'a line with an odd branch',
      Buffer.from(`${line(`${zeros} ${'1'.repeat(40)} refs/heads/../../x\0 report-status`)}0000`),
      {},
    ],
  ];
  test.each(broken)('to push with %s changes nothing and is not our failure', async (_what, body, headers) => {
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
    await ended(siteId);
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('with a body of another type is refused', async () => {
    const address = await platform.address(await platform.site(), { seconds: day });
    const answer = await post(address, 'git-receive-pack', '0000', { 'content-type': 'application/json' });
    expect(answer.status).toBe(415);
  });
});

describe('a push', () => {
  test('over the cap is refused with a line that names the limit', async () => {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: day }), '.']);
    await commitFiles(work.path, { 'src/big.bin': randomBytes(7_000_000) });
    const before = await stateOf(platform, siteId);
    for (const buffer of ['65536', '100000000']) {
      const { status, stderr } = await tryGit(work.path, ['-c', `http.postBuffer=${buffer}`, 'push']);
      expect(stderr).toMatch(/remote: This push is larger than 5 MiB, the limit for one push/);
      expect(status).not.toBe(0);
    }
    await ended(siteId);
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('whose body inflates beyond the cap is cut off', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const bomb = gzipSync(Buffer.concat([Buffer.from('0000PACK'), Buffer.alloc(50_000_000)]));
    const sent = post(await platform.address(siteId, { seconds: day }), 'git-receive-pack', bomb, {
      'content-encoding': 'gzip',
    });
    expect((await sent).status).toBe(400);
    await ended(siteId);
  });

  test('whose client disconnects leaves nothing', async () => {
    const siteId = await platform.site({ 'a.txt': 'a' });
    const before = await stateOf(platform, siteId);
    const half = await startPush(platform, siteId);
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]), { timeout: 20_000 });
    half.destroy();
    await ended(siteId);
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('whose client falls silent is cut off', async () => {
    const app = Fastify();
    gitRoutes(app, platform.deps, { timeouts: { idleMs: 100, workMs: 1000 } });
    await using closing = {
      url: await app.listen({ host: '127.0.0.1', port: 0 }),
      [Symbol.asyncDispose]: () => app.close(),
    };
    const siteId = await platform.site({ 'a.txt': 'a' });
    const before = await stateOf(platform, siteId);
    const half = await startPush(platform, siteId, closing.url);
    await new Promise((done) => half.on('close', done));
    await ended(siteId);
    expect(await stateOf(platform, siteId)).toEqual(before);
  });

  test('removes leftovers of killed pushes, and nothing of running ones', async () => {
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
});
