/** Pushes made to use time and memory, one after another, with an honest push beside them. */
import { type ChildProcess, fork } from 'node:child_process';
import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { childrenOf, cpuSecondsEver } from '#providers/process-times.ts';
import { sized } from '#test/campaigns/size.ts';
import { commitFiles, folder, git } from '#test/git/git.ts';
import { type Platform, startPlatform } from '#test/git/platform.ts';
import { gitProcesses, stateOf } from '#test/git/state.ts';
import { hostileRepositories } from './all.ts';
import type { News, Order } from './client.ts';
import { packBuilder } from './pack-builder.ts';
import type { HostileRepository } from './repository.ts';

const mebibyte = 1_048_576;
/** The hobby plan's. */
const limits = {
  file_bytes: 25 * mebibyte,
  site_files: 10_000,
  site_bytes: 512 * mebibyte,
  push_bytes: 100 * mebibyte,
};

let platform: Platform;
let helper: number;
let client: ChildProcess;
beforeAll(async () => {
  platform = await startPlatform(limits);
  client = fork(join(import.meta.dirname, 'client.ts'), { execArgv: [] });
  // The first git process starts the helper.
  await platform.site({ 'a.txt': 'a' });
  for (const pid of await childrenOf(process.pid)) {
    if ((await readFile(`/proc/${pid}/cmdline`, 'utf8')).includes('spawn-helper-process')) helper = pid;
  }
});
afterAll(async () => {
  client?.kill();
  await platform.close();
});

const chosen = hostileRepositories.filter(({ brief }) => brief || sized({ one: 0, short: 0, long: 1 }) > 0);
const honestBytes = sized({ one: 0, short: 20_000_000, long: 100_000_000 });

async function order<Answer extends News>(message: Order | 'send'): Promise<Answer> {
  client.send(message);
  const [news] = await Promise.race([once(client, 'message'), once(client, 'exit')]);
  if (typeof news !== 'object') throw new Error(`the client exited with ${news}`);
  return news as Answer;
}

/** Watches git's processes: the most memory, besides mapped files, that one has. */
function watchMemory() {
  let [most, isOver] = [0, false];
  const look = async (pid: number): Promise<void> => {
    for (const child of await childrenOf(pid)) {
      const status = await readFile(`/proc/${child}/status`, 'utf8').catch(() => '');
      most = Math.max(most, Number(/^RssAnon:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024);
      await look(child);
    }
  };
  const watching = (async () => {
    while (!isOver) {
      await look(helper);
      await new Promise((next) => setTimeout(next, 50));
    }
  })();
  return async () => {
    isOver = true;
    await watching;
    return most;
  };
}

const idle = (siteId: string) =>
  vi.waitFor(async () => expect(await gitProcesses(platform, siteId)).toEqual([]), { timeout: 20_000 });

/** Pushes, and measures until no process is left. */
async function attempt(hostile: HostileRepository) {
  const siteId = await platform.site({ 'a.txt': 'a' });
  const address = await platform.address(siteId, { seconds: 86_400 });
  const head = (await platform.repositories.head(siteId, 'source')) ?? '';
  const { megabytes } = await order<{ megabytes: number }>({ what: hostile.what, address, head });
  const before = await stateOf(platform, siteId);
  const [gitBefore, ownBefore] = [await cpuSecondsEver(helper), process.cpuUsage()];
  const memory = watchMemory();
  const stall = watchStalls();
  const { text, seconds } = await order<{ text: string; seconds: number }>('send');
  await idle(siteId);
  const stalled = stall();
  const own = process.cpuUsage(ownBefore);
  const after = await stateOf(platform, siteId);
  return {
    text,
    seconds,
    megabytes,
    gitCpu: (await cpuSecondsEver(helper)) - gitBefore,
    ownCpu: (own.user + own.system) / 1e6,
    memory: await memory(),
    stall: stalled,
    isUnchanged: before.refs === after.refs,
    quarantines: after.quarantines,
    siteId,
  };
}

/**
 * Watches the event loop. Returns the longest time, in milliseconds, that it worked without a pause. It is CPU time:
 * other programs on the machine do not change it.
 */
function watchStalls(): () => number {
  let [most, before] = [0, process.threadCpuUsage()];
  const timer = setInterval(() => {
    const now = process.threadCpuUsage();
    most = Math.max(most, now.user + now.system - before.user - before.system);
    before = now;
  }, 1);
  return () => {
    clearInterval(timer);
    return most / 1000;
  };
}

/** Requests /healthz from another thread every 20 ms. Returns the response times, without the first, which loads `fetch`. */
function watchHealth(): () => Promise<number[]> {
  const code = `
    const { parentPort, workerData } = require('node:worker_threads');
    const times = [];
    let isOver = false;
    parentPort.on('message', () => { isOver = true; });
    (async () => {
      await (await fetch(workerData + '/healthz')).text();
      while (!isOver) {
        const began = performance.now();
        await (await fetch(workerData + '/healthz')).text();
        times.push(performance.now() - began);
        await new Promise((next) => setTimeout(next, 20));
      }
      parentPort.postMessage(times);
      parentPort.close();
    })();`;
  const worker = new Worker(code, { eval: true, workerData: platform.url });
  return async () => {
    worker.postMessage('end');
    const [times] = await once(worker, 'message');
    return times as number[];
  };
}

/** Commits the files of an honest push. Returns the function that pushes them. */
async function prepareHonestPush(): Promise<() => Promise<string>> {
  const work = await folder();
  const siteId = await platform.site({ 'a.txt': 'a' });
  await git(work.path, ['clone', '--quiet', await platform.address(siteId, { seconds: 86_400 }), '.']);
  const files = Array.from({ length: honestBytes / 5_000_000 }, (_, at) => [`src/${at}.bin`, randomBytes(5_000_000)]);
  await commitFiles(work.path, Object.fromEntries(files));
  return async () => {
    await using _work = work;
    const began = performance.now();
    await git(work.path, ['push', '--quiet']);
    return `honest push of ${honestBytes / 1_000_000} MB beside them: ${((performance.now() - began) / 1000).toFixed(1)} s`;
  };
}

test(`${chosen.length} hostile pushes stay within the bounds of time and memory`, async () => {
  const pushHonestly = honestBytes > 0 ? await prepareHonestPush() : async () => '';
  const health = watchHealth();
  const honest = pushHonestly();
  const faults: string[] = [];
  for (const hostile of chosen) {
    const row = await attempt(hostile);
    const cpuMax = 2 + 0.1 * row.megabytes;
    const isAccepted = /unpack ok[\s\S]*ok refs/.test(row.text);
    const verdict = isAccepted ? 'accepted' : 'refused';
    console.log(
      `| ${hostile.what} | ${row.megabytes.toFixed(2)} | ${row.gitCpu.toFixed(2)} of ${cpuMax.toFixed(1)} | ${row.ownCpu.toFixed(2)} | ${Math.round(row.memory)} | ${row.seconds.toFixed(1)} | ${Math.round(row.stall)} | ${verdict} |`,
    );
    const wrong = [
      hostile.says.test(row.text) ? [] : `answered ${row.text.slice(0, 800)}`,
      row.gitCpu > cpuMax + 0.5 ? `used ${row.gitCpu} CPU seconds` : [],
      row.memory > 110 ? `used ${row.memory} MiB` : [],
      row.quarantines.length > 0 ? 'left a quarantine' : [],
      isAccepted === row.isUnchanged ? 'moved a branch, or did not' : [],
    ].flat();
    faults.push(...wrong.map((fault) => `${hostile.what}: ${fault}`));
  }
  console.log(await honest);
  const times = (await health()).sort((a, b) => a - b);
  console.log(
    `/healthz: ${times.length} requests, median ${times[times.length >> 1]}, p99 ${times[Math.floor(times.length * 0.99)]}, over 50 ms ${times.filter((ms) => ms > 50).length}, max ${times.at(-1)}`,
  );
  expect(faults).toEqual([]);
}, 1_800_000);

test('the ids of packs are git’s', () => {
  expect(packBuilder().blob('a')).toBe(createHash('sha1').update('blob 1\0a').digest('hex'));
});
