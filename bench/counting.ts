/**
 * What counting views costs an edge: CPU seconds for 100,000 requests with it and without it. Two runs of the same program differ by some
 * percent for as long as they live, by where their code and data happen to lie; so each of the pairs is of two processes of its own, which
 * are asked in turn, one, the other, the other, the one. With wrk on PATH. A page of 1 KB on connections that are kept is the edge's
 * cheapest answer, so that the share is the largest.
 */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';
import { end, type Server, startEdge } from './edge-contestants.ts';
import { startSites } from './edge-sites.ts';
import { load } from './load.ts';
import { cpuSeconds, median } from './measure.ts';

const isQuick = process.argv.includes('--quick');
const pairs = isQuick ? 2 : 9;
const seconds = isQuick ? 1 : 2;
const warmUpSeconds = 1;
const connections = 32;
const workers = 2;
const userAgent =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36';
const requests = {
  'a page of 1 KB': { path: 'small.html', headers: {} },
  'a page of 1 KB, from a link on another site': { path: 'small.html', headers: { Referer: 'https://example.org/a' } },
  'a page of 27 KB': { path: 'page.html', headers: {} },
};
type Request = (typeof requests)[keyof typeof requests];

/** CPU seconds for 100,000 requests. */
async function cost(server: Server, { path, headers }: Request, forSeconds = seconds): Promise<number> {
  const before = await cpuSeconds(server.pid);
  const url = `${server.url}/${path}`;
  const all = { 'User-Agent': userAgent, ...headers };
  const result = await load({ url, host: server.host, connections, seconds: forSeconds, headers: all });
  if (result.failures > 0) throw new Error(`${server.name} failed ${result.failures} requests`);
  return (((await cpuSeconds(server.pid)) - before) / result.requests) * 100_000;
}

type Pair = { with: number; without: number };

/** Both in turn, so that what changes steadily in the meantime takes the same from each. */
async function compare(counting: Server, plain: Server, request: Request, countingFirst: boolean): Promise<Pair> {
  for (const server of [counting, plain]) await cost(server, request, warmUpSeconds);
  const [one, other] = countingFirst ? [counting, plain] : [plain, counting];
  const taken = new Map([counting, plain].map((server) => [server, 0]));
  for (const server of [one, other, other, one])
    taken.set(server, (taken.get(server) ?? 0) + (await cost(server, request)) / 2);
  return { with: taken.get(counting) ?? 0, without: taken.get(plain) ?? 0 };
}

const more = (pair: Pair) => (pair.with / pair.without - 1) * 100;

function row(what: string, taken: readonly Pair[]): string {
  const shares = taken.map(more).toSorted((a, b) => a - b);
  const at = (share: number) => shares[Math.round(share * (shares.length - 1))]?.toFixed(1);
  const [counting, plain] = [median(taken.map((pair) => pair.with)), median(taken.map((pair) => pair.without))];
  return `| ${what} | ${counting.toFixed(3)} s | ${plain.toFixed(3)} s | ${median(shares).toFixed(1)} % | ${at(0.25)} to ${at(0.75)} % |`;
}

/** Answers the section of the results. */
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
    const start = (analytics: 'on' | 'off') =>
      startEdge(dir, sites.databaseUrl, workers, children, { FRONTAGE_ANALYTICS: analytics });
    const taken = Object.keys(requests).map((): Pair[] => []);
    for (let pair = 0; pair < pairs; pair++) {
      const [counting, plain] = await Promise.all([start('on'), start('off')]);
      for (const [at, request] of Object.values(requests).entries())
        taken[at]?.push(await compare(counting, plain, request, pair % 2 === 0));
      await Promise.all(children.splice(0).map(end));
      console.log(`pair ${pair + 1}: ${taken.map((all) => more(all.at(-1) as Pair).toFixed(1)).join(', ')} % more`);
    }
    const rows = Object.keys(requests).map((what, at) => row(what, taken[at] ?? []));
    const [counted] = await sites.query('select sum(views)::text as views from view_hour');
    return [
      `CPU seconds for 100,000 requests, medians of ${pairs} pairs of edges, each asked for twice ${seconds} s in turn; ${connections} kept connections, ${workers} processes.`,
      'The last column is what half of the pairs lie within.',
      `${counted?.views} views were counted and written. Load average before: ${before.toFixed(1)}.`,
      '',
      '| | counting | not counting | more | half of the pairs |',
      '| --- | --- | --- | --- | --- |',
      ...rows,
    ].join('\n');
  } finally {
    await Promise.all(children.map(end));
    await sites.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(await benchCounting());
