/**
 * The edge compared with nginx and Caddy: requests per second for small files, on the same cores as the load; then the
 * cost of large sites and of many sites. Requires wrk, nginx and caddy on PATH. Rounds are interleaved; figures are
 * medians of the rounds.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { contestants, type Server, startContestants } from './edge-contestants.ts';
import { benchLargeSites, benchManySites } from './edge-large.ts';
import { load } from './load.ts';
import { cpuSeconds, median, medianRatio } from './measure.ts';

const sizes = { 'small.html': 1024, 'page.html': 27 * 1024 } as const;
const rounds = 7;
const seconds = 3;
const connections = 32;

type Measured = { requestsPerSecond: number; requestsPerCpuSecond: number; p99Ms: number };

async function measure(server: Server, path: string): Promise<Measured> {
  const before = await cpuSeconds(server.pid);
  const result = await load({ url: `${server.url}/${path}`, host: server.host, connections, seconds });
  if (result.failures > 0) throw new Error(`${server.name} failed ${result.failures} requests`);
  const cpu = (await cpuSeconds(server.pid)) - before;
  return {
    requestsPerSecond: result.requestsPerSecond,
    requestsPerCpuSecond: result.requests / cpu,
    p99Ms: result.p99Ms,
  };
}

/** Measures, and prints one line per figure. */
export async function benchEdge(): Promise<void> {
  await benchPeers();
  await benchLargeSites();
  await benchManySites(availableParallelism());
}

async function benchPeers(): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const { servers, stop } = await startContestants(dir, sizes, availableParallelism());
  try {
    for (const path of Object.keys(sizes)) {
      const taken = new Map<string, Measured[]>(servers.map((server) => [server.name, []]));
      for (const server of servers)
        await load({ url: `${server.url}/${path}`, host: server.host, connections, seconds: 1 });
      for (let round = 0; round < rounds; round++)
        for (const server of servers) taken.get(server.name)?.push(await measure(server, path));
      report(path, taken);
    }
  } finally {
    await stop();
    await rm(dir, { recursive: true, force: true });
  }
}

function report(path: string, taken: Map<string, Measured[]>): void {
  const ours = taken.get(contestants.edge) ?? [];
  for (const [name, theirs] of taken) {
    const values = (all: Measured[], of: keyof Measured) => all.map((one) => one[of]);
    const middle = (of: keyof Measured) => median(values(theirs, of));
    const ratio = (of: keyof Measured) => medianRatio(values(ours, of), values(theirs, of));
    console.log(
      `${path} ${sizes[path as keyof typeof sizes]} B, ${name}:`,
      `${Math.round(middle('requestsPerSecond'))} requests/s, p99 ${middle('p99Ms')} ms,`,
      `${Math.round(middle('requestsPerCpuSecond'))} requests per CPU second;`,
      `edge is ${ratio('requestsPerSecond').toFixed(2)} x (per CPU second ${ratio('requestsPerCpuSecond').toFixed(2)} x)`,
    );
  }
}

if (import.meta.main) await benchEdge();
