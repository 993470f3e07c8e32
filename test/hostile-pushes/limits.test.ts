/** The limits of one push: a push that reaches one is refused with what to do, and no process is left. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import type { GitOptions } from '#git/http.ts';
import { pktLine } from '#git/pkt-line.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { serveWith, untilIdle } from '#test/git/serving.ts';
import { gitProcesses, stateOf } from '#test/git/state.ts';
import { opened } from '#test/git/wire.ts';
import { copying, packBuilder, packed, varint } from './pack-builder.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const patient = { timeout: 20_000 };
const idle = (siteId: string) => untilIdle(platform, siteId);
const serving = (options: GitOptions) => serveWith(platform, options);

/**
 * A push to the site, byte by byte: many deltas that each copy the same 8 MB and end differently. Its pack is small, and its unpacking takes
 * seconds of computing time and the memory of a whole file.
 */
async function slowPush(address: string, head: string) {
  const builder = packBuilder();
  const base = Buffer.alloc(8_000_000);
  const id = builder.blob(base);
  for (let at = 0; at < 200; at++) {
    const ops = [...copying(0, 0xff_ff_ff & (base.length - 4)), 4, ...Buffer.from(String(at).padStart(4, '0'))];
    const delta = Buffer.from([...varint(base.length), ...varint(base.length), ...ops]);
    builder.objects.push(packed('refDelta', delta, id));
  }
  const command = pktLine(
    `${head} ${builder.commit(builder.tree([]), [head])} refs/heads/main\0 report-status side-band-64k`,
  );
  const { authorization, url } = opened(address);
  return (signal?: AbortSignal) =>
    fetch(`${url}/git-receive-pack`, {
      method: 'POST',
      headers: { authorization, 'content-type': 'application/x-git-receive-pack-request' },
      body: Buffer.concat([Buffer.from(`${command}0000`), builder.bytes()]),
      signal: signal ?? null,
    });
}

async function begun(options: GitOptions) {
  const site = await serving(options);
  const siteId = await platform.site({ 'a.txt': 'a' });
  const head = (await platform.repositories.head(siteId, 'source')) ?? '';
  const push = await slowPush(await site.address(siteId), head);
  return { siteId, push, before: await stateOf(platform, siteId), [Symbol.asyncDispose]: site[Symbol.asyncDispose] };
}

test.each<[string, GitOptions]>([
  ['too much computing time', { work: { cpuSeconds: 0.2, cpuSecondsPerMegabyte: 0 } }],
  ['too much time', { timeouts: { workMs: 1, workMsPerMegabyte: 0 } }],
  ['too much memory', { work: { dataMebibytes: 12 } }],
])(
  'a push that takes %s is refused with what to do, and leaves nothing',
  async (_what, options) => {
    await using site = await begun(options);
    const answer = await (await site.push()).text();
    expect(answer).toMatch(/too much computing time or memory[\s\S]*Push fewer commits[\s\S]*Nothing has changed/);
    await idle(site.siteId);
    expect(await stateOf(platform, site.siteId)).toEqual(site.before);
  },
  120_000,
);

test('a client that disconnects while its push is checked leaves no process', async () => {
  await using site = await begun({ work: { cpuSeconds: 60 }, concurrency: { running: 1, perAccount: 1 } });
  const gone = new AbortController();
  const sent = site.push(gone.signal).then((answer) => answer.text());
  const unpacking = async () => (await gitProcesses(platform, site.siteId)).some((line) => line.includes('index-pack'));
  await vi.waitFor(async () => expect(await unpacking()).toBe(true), { ...patient, interval: 10 });
  gone.abort();
  await expect(sent).rejects.toMatchObject({ name: 'AbortError' });
  await idle(site.siteId);
  expect(await stateOf(platform, site.siteId)).toEqual(site.before);
}, 120_000);
