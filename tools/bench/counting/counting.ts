/**
 * The cost of counting views: an edge's CPU seconds for 100,000 requests with and without it. Two processes of the same
 * program differ by some percent, depending on where code and data lie in memory. So one process listens on two ports,
 * which are measured in the order A, B, B, A. A page of 1 KB over keep-alive connections is the edge's cheapest
 * response, so the share of counting is largest there. Requires wrk on PATH.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { end } from '#tools/bench/edge-contestants.ts';
import { domain, startSites } from '#tools/bench/edge-sites.ts';
import { load } from '#tools/bench/load.ts';
import { cpuSeconds, median } from '#tools/bench/measure.ts';
import { countingAlone } from './alone.ts';

const isQuick = process.argv.includes('--quick');
const rounds = isQuick ? 2 : 8;
const seconds = isQuick ? 1 : 2;
const connections = 32;
const host = `bench.${domain}`;
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const requests = {
  'a page of 1 KB': { path: 'small.html', headers: {} },
  'a page of 1 KB, from a link on another site': { path: 'small.html', headers: { Referer: 'https://example.org/a' } },
  'a page of 27 KB': { path: 'page.html', headers: {} },
};
type Request = (typeof requests)[keyof typeof requests];

type Way = 'counting' | 'plain';
type Twofold = { pid: number; ports: Record<Way, number> };

/** CPU seconds for 100,000 requests. */
async function cost({ pid, ports }: Twofold, way: Way, { path, headers }: Request): Promise<number> {
  const before = await cpuSeconds(pid);
  const url = `http://127.0.0.1:${ports[way]}/${path}`;
  const result = await load({ url, host, connections, seconds, headers: { 'User-Agent': userAgent, ...headers } });
  if (result.failures > 0) throw new Error(`${result.failures} requests failed`);
  return (((await cpuSeconds(pid)) - before) / result.requests) * 100_000;
}

type Pair = Record<Way, number>;

/** Measures in the order A, B, B, A, so that steady drift affects both equally. */
async function compare(edge: Twofold, request: Request, first: Way): Promise<Pair> {
  const second: Way = first === 'counting' ? 'plain' : 'counting';
  const taken: Pair = { counting: 0, plain: 0 };
  for (const way of [first, second, second, first] as const) taken[way] += (await cost(edge, way, request)) / 2;
  return taken;
}

const more = (pair: Pair) => (pair.counting / pair.plain - 1) * 100;

function row(what: string, taken: readonly Pair[]): string {
  const shares = taken.map(more).toSorted((a, b) => a - b);
  const at = (share: number) => shares[Math.round(share * (shares.length - 1))]?.toFixed(1);
  const [counting, plain] = [median(taken.map((pair) => pair.counting)), median(taken.map((pair) => pair.plain))];
  return `| ${what} | ${counting.toFixed(3)} s | ${plain.toFixed(3)} s | ${median(shares).toFixed(1)} % | ${at(0.25)} to ${at(0.75)} % |`;
}

async function start(dir: string, databaseUrl: string, children: ChildProcess[]): Promise<Twofold> {
  const child = fork(join(import.meta.dirname, 'edge.ts'), {
    env: {
      PATH: process.env.PATH,
      DATABASE_URL: databaseUrl,
      FRONTAGE_DATA: dir,
      FRONTAGE_SECRET: 'x'.repeat(32),
      FRONTAGE_LOG_LEVEL: 'error',
    },
  });
  children.push(child);
  const [{ ports }] = (await once(child, 'message')) as [{ ports: [number, number] }];
  return { pid: child.pid as number, ports: { counting: ports[0], plain: ports[1] } };
}

/** Returns the section of the results. */
export async function benchCounting(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const children: ChildProcess[] = [];
  const sites = await startSites(dir);
  const before = loadavg()[0] as number;
  try {
    const files = Object.entries({ 'small.html': 1024, 'page.html': 27 * 1024 }).map(([path, size]) => {
      return { path, content: Buffer.from(randomBytes(size).toString('base64').slice(0, size)) };
    });
    await sites.publish('bench', await sites.keep(files));
    const edge = await start(dir, sites.databaseUrl, children);
    const taken = Object.keys(requests).map((): Pair[] => []);
    for (const request of Object.values(requests)) await compare(edge, request, 'counting');
    for (let round = 0; round < rounds; round++) {
      for (const [at, request] of Object.values(requests).entries())
        taken[at]?.push(await compare(edge, request, round % 2 === 0 ? 'counting' : 'plain'));
      console.log(`${round + 1}: ${taken.map((all) => more(all.at(-1) as Pair).toFixed(1)).join(', ')} % more`);
    }
    await Promise.all(children.splice(0).map(end));
    const rows = Object.keys(requests).map((what, at) => row(what, taken[at] ?? []));
    const browser = `User-Agent: ${userAgent}`;
    const alone = [await countingAlone([browser]), await countingAlone([browser, 'Referer: https://example.org/a'])];
    const [counted] = await sites.query('select sum(views)::text as views from view_hour');
    return [
      `CPU seconds for 100,000 requests, medians of ${rounds} rounds. In each round one process was measured twice for ${seconds} s each way; ${connections} keep-alive connections.`,
      'The last column is the interquartile range.',
      `${counted?.views} views were counted and written. Load average before: ${before.toFixed(1)}.`,
      '',
      '| | counting | not counting | more | half of the rounds |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
      '',
      `Counting alone, in a process without a network, takes ${alone.map((ns) => ns.toFixed(0)).join(' ns, and with a link from another site ')} ns.`,
    ].join('\n');
  } finally {
    await Promise.all(children.map(end));
    await sites.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(await benchCounting());
