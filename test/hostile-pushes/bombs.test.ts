/** Packs that are small on the wire and large in memory. */
import { createHash, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { pktLine } from '#git/pkt-line.ts';
import { sized } from '#test/campaigns/size.ts';
import { commitFiles, folder, git } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { peakMemory, stateOf } from '#test/git/state.ts';
import { post } from '#test/git/wire.ts';
import { copying, pack, packed, varint } from './pack-builder.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const mebibyte = 1_048_576;
// 256 MiB of its own, and what is mapped of files.
const memoryMax = 300 * mebibyte;

/** A delta that copies its base, once and once more. */
function doubling(size: number): Buffer {
  const ops: number[] = [];
  for (let round = 0; round < 2; round++) {
    for (let at = 0; at < size; at += 8 * mebibyte) {
      ops.push(...copying(at, Math.min(8 * mebibyte, size - at)));
    }
  }
  return Buffer.from([...varint(size), ...varint(2 * size), ...ops]);
}

function idOfZeros(size: number): string {
  const hash = createHash('sha1').update(`blob ${size}\0`);
  const zeros = Buffer.alloc(4 * mebibyte);
  for (let left = size; left > 0; left -= zeros.length) hash.update(zeros);
  return hash.digest('hex');
}

async function push(siteId: string, objects: Buffer[]) {
  const head = await platform.repositories.head(siteId, 'source');
  const command = pktLine(`${head} ${'1'.repeat(40)} refs/heads/main\0 report-status side-band-64k`);
  const body = Buffer.concat([Buffer.from(`${command}0000`), pack(objects)]);
  return post(await platform.address(siteId, { seconds: 86_400 }), 'git-receive-pack', new Uint8Array(body));
}

describe('a pack is refused within the memory limit if it contains', () => {
  const zeros = 4 * mebibyte;
  const bombs: [string, () => Buffer[]][] = [
    [
      'a chain of deltas that doubles to 2 GiB',
      () => {
        const sizes = Array.from({ length: 9 }, (_, step) => zeros * 2 ** step);
        return [
          packed('blob', Buffer.alloc(zeros)),
          ...sizes.map((size) => packed('refDelta', doubling(size), idOfZeros(size))),
        ];
      },
    ],
    ['a file that inflates to 400 MiB', () => [packed('blob', Buffer.alloc(400 * mebibyte))]],
    ['a tree that inflates to 400 MiB', () => [packed('tree', Buffer.alloc(400 * mebibyte, '100644 a\0'))]],
    [
      'a commit whose header is 300 MiB long',
      () => [packed('commit', Buffer.alloc(300 * mebibyte, 'parent 1111111111111111111111111111111111111111\n'))],
    ],
  ];
  test.each(bombs)(
    '%s',
    async (_what, objects) => {
      const siteId = await platform.site({ 'a.txt': 'a' });
      const before = await stateOf(platform, siteId);
      const sent = objects();
      let answer: Awaited<ReturnType<typeof push>> | undefined;
      const peak = await peakMemory(platform, siteId, async () => {
        answer = await push(siteId, sent);
      });
      expect(answer?.status).toBeLessThan(500);
      expect(answer?.text).toMatch(/unpack (?!ok)|ng |fatal|error/);
      expect(peak).toBeLessThan(memoryMax);
      expect(await stateOf(platform, siteId)).toEqual(before);
    },
    180_000,
  );
});

const bytes = sized({ one: 10_000_000, short: 20_000_000, long: 90_000_000 });

test(`a push of ${bytes / 1_000_000} MB and its clone stay within the memory limit`, async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  const address = await platform.address(siteId, { seconds: 86_400 });
  await git(work.path, ['clone', '--quiet', address, 'first']);
  const files = Array.from(
    { length: bytes / 5_000_000 },
    (_, index) => [`src/${index}.bin`, randomBytes(5_000_000)] as const,
  );
  await commitFiles(`${work.path}/first`, Object.fromEntries(files));
  const own = process.memoryUsage.rss();
  let most = own;
  const watch = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 10);
  const peak = await peakMemory(platform, siteId, async () => {
    await git(`${work.path}/first`, ['push', '--quiet']);
    await git(work.path, ['clone', '--quiet', address, 'second']);
  });
  clearInterval(watch);
  console.log(
    `git ${Math.round(peak / mebibyte)} MiB at most, the API's process ${Math.round((most - own) / mebibyte)} MiB more than before`,
  );
  expect(peak).toBeGreaterThan(0);
  expect(peak).toBeLessThan(memoryMax);
  expect(most - own).toBeLessThan(memoryMax);
}, 180_000);
