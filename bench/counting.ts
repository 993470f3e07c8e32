/**
 * What counting views costs an edge: CPU seconds for 100,000 requests with it and without it, in pairs of neighbouring runs that take
 * turns in being first. With wrk on PATH. A page of 1 KB on connections that are kept is the edge's cheapest answer, so that the share is the largest.
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

const pairs = 9;
const seconds = process.argv.includes('--quick') ? 1 : 4;
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
async function cost(server: Server, { path, headers }: Request): Promise<number> {
  const before = await cpuSeconds(server.pid);
  const url = `${server.url}/${path}`;
  const all = { 'User-Agent': userAgent, ...headers };
  const result = await load({ url, host: server.host, connections, seconds, headers: all });
  if (result.failures > 0) throw new Error(`${server.name} failed ${result.failures} requests`);
  return (((await cpuSeconds(server.pid)) - before) / result.requests) * 100_000;
}

async function compare(
  counting: Server,
  plain: Server,
  request: Request,
): Promise<{ with: number; without: number; more: number }> {
  for (const server of [counting, plain]) await cost(server, request);
  const taken: { with: number; without: number }[] = [];
  for (let n = 0; n < pairs; n++) {
    const first = await cost(n % 2 ? counting : plain, request);
    const second = await cost(n % 2 ? plain : counting, request);
    taken.push(n % 2 ? { with: first, without: second } : { with: second, without: first });
  }
  return {
    with: median(taken.map((pair) => pair.with)),
    without: median(taken.map((pair) => pair.without)),
    more: median(taken.map((pair) => pair.with / pair.without - 1)),
  };
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
    const [counting, plain] = [await start('on'), await start('off')];
    const rows: string[] = [];
    for (const [what, request] of Object.entries(requests)) {
      const result = await compare(counting, plain, request);
      rows.push(
        `| ${what} | ${result.with.toFixed(3)} s | ${result.without.toFixed(3)} s | ${(result.more * 100).toFixed(1)} % |`,
      );
      console.log(rows.at(-1));
    }
    await Promise.all(children.map(end));
    const [row] = await sites.query('select sum(views)::text as views from view_hour');
    return [
      `CPU seconds for 100,000 requests, medians of ${pairs} pairs of ${seconds} s; ${connections} kept connections, ${workers} processes.`,
      `${row?.views} views were counted and written. Load average before: ${before.toFixed(1)}.`,
      '',
      '| | counting | not counting | more |',
      '| --- | --- | --- | --- |',
      ...rows,
    ].join('\n');
  } finally {
    await Promise.all(children.map(end));
    await sites.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

if (import.meta.main) console.log(await benchCounting());
