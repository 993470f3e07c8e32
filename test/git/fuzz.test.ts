/** Requests that were bent: whatever of the protocol is broken, nothing is written, nothing crashes, nothing is left. */
import { spawn } from 'node:child_process';
import { buffer } from 'node:stream/consumers';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { pktLine } from '#git/pkt-line.ts';
import { sized } from '#test/campaigns/size.ts';
import { commitFiles, folder, git } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { gitProcesses, stateOf } from './state.ts';
import { opened } from './wire.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

type Request = { service: 'git-upload-pack' | 'git-receive-pack'; protocol?: string; body: Buffer };

/** One honest request of each kind. The push breaks a rule, so that no bending of it may ever move a branch. */
async function honest(address: string): Promise<Request[]> {
  await using work = await folder();
  await git(work.path, ['clone', '--quiet', address, '.']);
  const old = await git(work.path, ['rev-parse', 'HEAD']);
  await commitFiles(work.path, { 'package.json': '{}', 'b.txt': 'two'.repeat(500) });
  const made = await git(work.path, ['rev-parse', 'HEAD']);
  const packing = spawn('git', ['pack-objects', '--revs', '--stdout', '--thin', '--quiet'], { cwd: work.path });
  packing.stdin.end(`${made}\n^${old}\n`);
  const pack = await buffer(packing.stdout);
  const command = pktLine(`${old} ${made} refs/heads/main\0 report-status side-band-64k agent=fuzz`);
  const want = pktLine(`want ${old} multi_ack_detailed no-done side-band-64k thin-pack ofs-delta agent=fuzz\n`);
  const fetch2 = `${pktLine('command=fetch')}${pktLine('agent=fuzz')}0001${pktLine('thin-pack')}${pktLine(`want ${old}\n`)}${pktLine('filter blob:none\n')}${pktLine('done\n')}0000`;
  return [
    { service: 'git-receive-pack', body: Buffer.concat([Buffer.from(`${command}0000`), pack]) },
    { service: 'git-upload-pack', body: Buffer.from(`${want}${pktLine('deepen 1')}0000${pktLine('done\n')}`) },
    { service: 'git-upload-pack', protocol: 'version=2', body: Buffer.from(fetch2) },
    {
      service: 'git-upload-pack',
      protocol: 'version=2',
      body: Buffer.from(
        `${pktLine('command=ls-refs\n')}0001${pktLine('peel\n')}${pktLine('ref-prefix refs/heads/')}0000`,
      ),
    },
  ];
}

type Bend = {
  kind: 'flip' | 'cut' | 'drop' | 'repeat' | 'insert' | 'length';
  at: number;
  size: number;
  bytes: Uint8Array;
};
const bend: fc.Arbitrary<Bend> = fc.record({
  kind: fc.constantFrom('flip', 'cut', 'drop', 'repeat', 'insert', 'length'),
  // Most of the grammar is in the first part of a body.
  at: fc.oneof(fc.integer({ min: 0, max: 250 }), fc.nat(100_000)),
  size: fc.integer({ min: 1, max: 64 }),
  bytes: fc.uint8Array({ minLength: 1, maxLength: 16 }),
});

function bent(body: Buffer, { kind, at: place, size, bytes }: Bend): Buffer {
  const at = body.length === 0 ? 0 : place % body.length;
  const [before, after] = [body.subarray(0, at), body.subarray(at)];
  if (kind === 'cut') return before;
  if (kind === 'drop') return Buffer.concat([before, after.subarray(size)]);
  if (kind === 'repeat') return Buffer.concat([before, after.subarray(0, size), after]);
  if (kind === 'insert') return Buffer.concat([before, bytes, after]);
  const other = Buffer.from(body);
  if (kind === 'length') other.write((size * 997).toString(16).padStart(4, '0').slice(-4), at - (at % 4));
  else for (const [index, byte] of bytes.entries()) other[at + index] = (other[at + index] ?? 0) ^ byte;
  return other;
}

const count = sized({ one: 40, short: 500, long: 10_000 });

test(`${count} malformed requests get no 5xx, and change nothing`, async () => {
  const siteId = await platform.site({ 'a.txt': 'one' });
  const address = await platform.address(siteId, { seconds: 86_400 });
  const { url, authorization } = opened(address);
  const requests = await honest(address);
  const before = await stateOf(platform, siteId);
  const seed = Math.trunc(Math.random() * 2 ** 31);
  const cases = fc.sample(
    fc.tuple(fc.constantFrom(...requests, requests[0] as Request), fc.array(bend, { minLength: 1, maxLength: 4 })),
    {
      numRuns: count,
      seed,
    },
  );
  let next = 0;
  const wrong: unknown[] = [];
  const worker = async () => {
    for (let index = next++; index < cases.length; index = next++) {
      const [{ service, protocol, body }, bends] = cases[index] as [Request, Bend[]];
      const response = await fetch(`${url}/${service}`, {
        method: 'POST',
        headers: {
          authorization,
          'content-type': `application/x-${service}-request`,
          ...(protocol ? { 'git-protocol': protocol } : {}),
        },
        body: new Uint8Array(bends.reduce(bent, body)),
      });
      // A pack that breaks off in the middle is answered by a broken connection, as git does.
      await response.arrayBuffer().catch(() => {});
      if (response.status >= 500) wrong.push({ index, status: response.status, bends });
    }
  };
  await Promise.all([worker(), worker(), worker(), worker()]);
  expect(wrong, `seed ${seed}`).toEqual([]);
  await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]), { timeout: 20_000 });
  expect(await stateOf(platform, siteId), `seed ${seed}`).toEqual(before);
  await git(platform.repositories.place(siteId, 'source').dir, ['fsck', '--strict']);
  await using work = await folder();
  await git(work.path, ['clone', '--quiet', address, '.']);
}, 1_800_000);
