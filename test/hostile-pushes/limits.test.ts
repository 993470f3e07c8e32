/** The limits of one push: a push that reaches one is refused with what to do, and no process is left. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { GitOptions } from '#git/http.ts';
import { pktLine } from '#git/pkt-line.ts';
import { commitFiles, folder, git, tryGit } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { serveWith, untilIdle } from '#test/git/serving.ts';
import { gitProcesses, stateOf } from '#test/git/state.ts';
import { opened } from '#test/git/wire.ts';
import { packBuilder } from './pack-builder.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const patient = { timeout: 20_000 };
const idle = (siteId: string) => untilIdle(platform, siteId);
const serving = (options: GitOptions) => serveWith(platform, options);

test.each<[string, GitOptions]>([
  ['too much computing time', { work: { cpuSeconds: 0.2, cpuSecondsPerMegabyte: 0 } }],
  ['too much time', { timeouts: { workMs: 1, workMsPerMegabyte: 0 } }],
  ['too much memory', { work: { dataMebibytes: 24 } }],
])(
  'a push that takes %s is refused with what to do, and leaves nothing',
  async (_what, options) => {
    await using site = await serving(options);
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const address = await site.address(siteId);
    await git(work.path, ['clone', '--quiet', address, '.']);
    const before = await stateOf(platform, siteId);
    // Compresses to little, is unpacked in memory, and takes about a second.
    const zeros = Array.from({ length: 60 }, (_, at) => [`${at}.bin`, Buffer.alloc(8_000_000, at)] as const);
    await commitFiles(work.path, Object.fromEntries(zeros));
    const { status, stderr } = await tryGit(work.path, ['push', '--quiet']);
    expect(stderr).toMatch(
      /remote: .*too much computing time or memory[\s\S]*Push fewer commits[\s\S]*Nothing has changed/,
    );
    expect(status).not.toBe(0);
    await idle(siteId);
    expect(await stateOf(platform, siteId)).toEqual(before);
  },
  120_000,
);

test('a client that disconnects while its push is checked leaves no process', async () => {
  await using site = await serving({ work: { cpuSeconds: 60 }, concurrency: { running: 1, perAccount: 1 } });
  const siteId = await platform.site({ 'a.txt': 'a' });
  const before = await stateOf(platform, siteId);
  const head = (await platform.repositories.head(siteId, 'source')) ?? '';
  const builder = packBuilder();
  for (let at = 0; at < 200; at++) builder.blob(Buffer.alloc(8_000_000, at));
  const command = pktLine(`${head} ${builder.commit(builder.tree([]), [head])} refs/heads/main\0 report-status`);
  const { authorization, url } = opened(await site.address(siteId));
  const gone = new AbortController();
  const sent = fetch(`${url}/git-receive-pack`, {
    method: 'POST',
    headers: { authorization, 'content-type': 'application/x-git-receive-pack-request' },
    body: Buffer.concat([Buffer.from(`${command}0000`), builder.bytes()]),
    signal: gone.signal,
  });
  const unpacking = async () => (await gitProcesses(platform, siteId)).some((line) => line.includes('index-pack'));
  await vi.waitFor(async () => expect(await unpacking()).toBe(true), patient);
  gone.abort();
  await expect(sent).rejects.toThrow();
  await idle(siteId);
  expect(await stateOf(platform, siteId)).toEqual(before);
}, 120_000);
