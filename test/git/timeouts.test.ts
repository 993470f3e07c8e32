/** Turns, patience and floods: what one client does costs the others little, and each is told what to do. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { buildApp } from '#api/app.ts';
import { blockAccount, unblockAccount } from '#db/accounts/blocks.ts';
import { tooManyRunning } from '#git/access.ts';
import type { GitOptions } from '#git/http.ts';
import { pktLine } from '#git/pkt-line.ts';
import { createAccountSlots } from '#runtime/account-slots.ts';
import { gitOperations } from '#runtime/telemetry/metrics.ts';
import { commitFiles, folder, git, tryGit } from './git.ts';
import { type Platform, startPlatform } from './platform.ts';
import { serveWith, untilIdle } from './serving.ts';
import { gitProcesses, stateOf } from './state.ts';
import { get, post, startFetch, startPush } from './wire.ts';

let platform: Platform;
beforeAll(async () => {
  platform = await startPlatform();
});
afterAll(() => platform.close());

const patient = { timeout: 20_000 };
const idle = (siteId: string) => untilIdle(platform, siteId);
const serving = (options: GitOptions) => serveWith(platform, options);

test('while all git slots are used, git is asked to retry, and later succeeds', async () => {
  await using site = await serving({ concurrency: { running: 1, perAccount: 1, waiting: 0 } });
  await using work = await folder();
  const [busy, other] = [await platform.site({ 'a.txt': 'a' }), await platform.site({ 'a.txt': 'a' })];
  const half = await startPush(platform, busy, site.url);
  await vi.waitFor(async () => expect(await gitProcesses(platform, busy)).not.toEqual([]), patient);
  const address = await site.address(other);
  const refused = await get(address, '/info/refs?service=git-upload-pack');
  expect(refused.status).toBe(503);
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await tryGit(work.path, ['clone', address, 'x'])).stderr).toMatch(
    /remote: Too many clones and pushes are running/,
  );
  const late = await post(address, 'git-upload-pack', `${pktLine('command=ls-refs')}0000`);
  expect(late).toMatchObject({ status: 200, text: expect.stringMatching(/^ERR Too many clones/) });
  expect((await post(address, 'git-receive-pack', '0000')).text).toMatch(/Too many clones[\s\S]*Refused/);
  half.destroy();
  await vi.waitFor(
    async () => expect((await get(address, '/info/refs?service=git-upload-pack')).status).toBe(200),
    patient,
  );
});

test('clients that disconnect while they wait for a git slot leave it free', async () => {
  await using site = await serving({ concurrency: { running: 1, perAccount: 1, waiting: 4 } });
  const siteId = await platform.site({ 'a.txt': 'a' });
  const address = await site.address(siteId);
  const half = await startPush(platform, siteId, site.url);
  await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]), patient);
  const alreadyWaiting = gitOperations.waiting;
  for (const clients of [1, 2]) {
    const fetching = await startFetch(platform, siteId, site.url);
    fetching.end('0000');
    await vi.waitFor(() => expect(gitOperations.waiting).toBe(alreadyWaiting + clients), patient);
    fetching.destroy();
  }
  half.destroy();
  const status = async () => (await get(address, '/info/refs?service=git-upload-pack')).status;
  await vi.waitFor(async () => expect(await status()).toBe(200), patient);
});

test('clients that disconnect in the middle of a push leave their git slots free', async () => {
  await using site = await serving({ concurrency: { running: 1, perAccount: 1, waiting: 0 } });
  const siteId = await platform.site({ 'a.txt': 'a' });
  const address = await site.address(siteId);
  const status = async () => (await get(address, '/info/refs?service=git-upload-pack')).status;
  for (let push = 0; push < 3; push++) {
    const half = await startPush(platform, siteId, site.url);
    await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]), {
      ...patient,
      interval: 5,
    });
    half.destroy();
    await vi.waitFor(async () => expect(await status()).toBe(200), { ...patient, interval: 20 });
  }
}, 120_000);

test('a slow client is disconnected, and leaves nothing', async () => {
  await using site = await serving({ timeouts: { slowMs: 300, bytesPerSecondMin: 1_000_000 } });
  const siteId = await platform.site({ 'a.txt': 'a' });
  const before = await stateOf(platform, siteId);
  const slow = await startPush(platform, siteId, site.url);
  const drip = setInterval(() => slow.write('x'), 50);
  await new Promise((done) => slow.on('close', done));
  clearInterval(drip);
  await idle(siteId);
  expect(await stateOf(platform, siteId)).toEqual(before);
});

test.each([
  ['push', startPush],
  ['fetch', startFetch],
])('a running %s is cut off once its account is blocked, and leaves nothing', async (_what, start) => {
  await using site = await serving({ timeouts: { askMs: 50 } });
  const siteId = await platform.site({ 'a.txt': 'a' });
  const before = await stateOf(platform, siteId);
  const half = await start(platform, siteId, site.url);
  const closed = new Promise((done) => half.on('close', done));
  await vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).not.toEqual([]), patient);
  // Asked, and let go on.
  expect(await Promise.race([closed.then(() => 'cut off'), pause(200, 'open')])).toBe('open');
  await blockAccount(platform.deps.em(), platform.deps, platform.accountId, 'For a reason.');
  await closed;
  await unblockAccount(platform.deps.em(), platform.deps, platform.accountId);
  await idle(siteId);
  expect(await stateOf(platform, siteId)).toEqual(before);
});

test('after too many calls from one address git’s output asks to wait', async () => {
  const { deps } = platform;
  const app = await buildApp({ ...deps, config: { ...deps.config, rateScale: 0.01 } });
  const url = await app.listen({ host: '127.0.0.1', port: 0 });
  try {
    await using work = await folder();
    const siteId = await platform.site({ 'a.txt': 'a' });
    const address = (await platform.address(siteId)).replace(/@[^/]+/, `@${new URL(url).host}`);
    const seen = [];
    for (let call = 0; call < 5; call++) seen.push((await get(address, '/info/refs?service=git-upload-pack')).status);
    expect(seen).toEqual([200, 200, 200, 429, 429]);
    const { stderr } = await tryGit(work.path, ['clone', address, 'x']);
    expect(stderr).toMatch(/remote: Too many requests in one minute\. Wait \d+ s/);
    expect((await get(address, '/info/refs?service=git-upload-pack')).headers.get('retry-after')).toMatch(/^\d+$/);
  } finally {
    await app.close();
  }
});

describe('git slots', () => {
  const limits = { running: 2, perAccount: 1, waiting: 2, waitMs: 60_000 };
  const use = { refusal: tooManyRunning };

  test('of one account do not block another, and pass to the next waiter', async () => {
    const slots = createAccountSlots(limits, use);
    const order: string[] = [];
    const take = async (site: string, name: string) => {
      const release = await slots.acquire(site);
      order.push(name);
      return release;
    };
    const first = await take('a', 'a1');
    const second = take('a', 'a2');
    await take('b', 'b1');
    expect(order).toEqual(['a1', 'b1']);
    first();
    first();
    (await second)();
    expect(order).toEqual(['a1', 'b1', 'a2']);
    await take('a', 'a3');
    expect(order).toHaveLength(4);
  });

  test('in the queue are shared among accounts', async () => {
    const slots = createAccountSlots({ ...limits, running: 2, perAccount: 1, waiting: 8 }, use);
    const releases = [await slots.acquire('a'), await slots.acquire('b')];
    const crowd = await Promise.all(
      Array.from({ length: 50 }, () =>
        Promise.race([slots.acquire('a').catch(() => 'refused'), new Promise((go) => setImmediate(go, 'waits'))]),
      ),
    );
    expect(crowd.filter((one) => one === 'waits')).toHaveLength(4);
    const other = slots.acquire('b');
    releases[1]?.();
    expect(await other).toBeTypeOf('function');
  });

  test('are refused when the queue is full or the wait times out', async () => {
    const slots = createAccountSlots({ ...limits, running: 1, waiting: 1, waitMs: 20 }, use);
    await slots.acquire('a');
    const waiting = slots.acquire('b');
    await expect(slots.acquire('c')).rejects.toMatchObject({ status: 503, retryAfterSeconds: 10 });
    await expect(waiting).rejects.toMatchObject({ status: 503 });
  });
});

test('a push of ten thousand branches is refused, and the answer names some', async () => {
  const siteId = await platform.site({ 'a.txt': 'a' });
  const head = await platform.repositories.head(siteId, 'source');
  const before = await stateOf(platform, siteId);
  const commands = Array.from({ length: 10_000 }, (_, index) => {
    const capabilities = index === 0 ? '\0 report-status side-band-64k' : '';
    return pktLine(`${'0'.repeat(40)} ${head} refs/heads/x/${index}${capabilities}`);
  });
  const empty = Buffer.from('5041434b0000000200000000029d08823bd8a8eab510ad6ac75c823cfd3ed31e', 'hex');
  const body = Buffer.concat([Buffer.from(`${commands.join('')}0000`), empty]);
  const address = await platform.address(siteId, { seconds: 86_400 });
  const { status, text } = await post(address, 'git-receive-pack', new Uint8Array(body));
  expect(status).toBe(200);
  expect(text).toMatch(/x\/0" cannot be pushed/);
  expect(text).toMatch(/and 9980 more/);
  await idle(siteId);
  expect(await stateOf(platform, siteId)).toEqual(before);
}, 120_000);

test('no rename, letter case or merge changes a file that the platform manages', async () => {
  await using work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a', 'src/b.txt': 'b' });
  await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: 86_400 }), '.']);
  const head = await git(work.path, ['rev-parse', 'HEAD']);
  const before = await stateOf(platform, siteId);
  const says = async (pattern: RegExp) => {
    const { status, stderr } = await tryGit(work.path, ['push', 'origin', 'HEAD:main']);
    expect(stderr).toMatch(pattern);
    expect(status).not.toBe(0);
  };
  for (const [from, to] of [
    ['a.txt', 'package-lock.json'],
    ['src/b.txt', 'src/Yarn.Lock'],
  ] as const) {
    await git(work.path, ['mv', from, to]);
    await git(work.path, ['commit', '--quiet', '--message', 'Move']);
    await says(/managed by the platform/);
    await git(work.path, ['reset', '--quiet', '--hard', head]);
  }
  await git(work.path, ['checkout', '--quiet', '-b', 'side']);
  await commitFiles(work.path, { '.npmrc': 'x' });
  await git(work.path, ['checkout', '--quiet', 'main']);
  await git(work.path, ['merge', '--quiet', '--no-ff', '--message', 'Merge', 'side']);
  await says(/\.npmrc is managed by the platform/);
  expect(await stateOf(platform, siteId)).toEqual(before);
}, 120_000);
