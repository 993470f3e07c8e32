/**
 * The edge over TLS compared with nginx and Caddy, with one certificate, on the same cores as the load: requests of
 * HTTP/1.1 and HTTP/2, and connections with full and resumed handshakes. Requires wrk, h2load, nginx, caddy and openssl
 * on PATH. Rounds are interleaved; figures are medians of the rounds.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Amount, connectOften, loadHttp2 } from '#tools/bench/tls/h2load.ts';
import { resumeOften } from '#tools/bench/tls/resumptions.ts';
import { contestants, type Server, startContestants } from './edge-contestants.ts';
import { load } from './load.ts';
import { cpuSeconds, median, medianRatio } from './measure.ts';

const sizes = { 'small.html': 1024, 'page.html': 27 * 1024 };
const connections = 32;
const quick = process.argv.includes('--quick');
const rounds = quick ? 2 : 5;
const seconds = quick ? 1 : 2;

type Measured = { perSecond: number; perCpuSecond: number };
type Kind = { name: string; run(server: Server): Promise<Amount> };

const kinds: Kind[] = [
  { name: '1 KB, HTTP/1.1', run: (server) => loadHttp1(server, 'small.html') },
  { name: '27 KB, HTTP/1.1', run: (server) => loadHttp1(server, 'page.html') },
  { name: '1 KB, HTTP/2', run: ({ url }) => loadHttp2(`${url}/small.html`, seconds) },
  { name: '27 KB, HTTP/2', run: ({ url }) => loadHttp2(`${url}/page.html`, seconds) },
  { name: 'full handshakes', run: ({ url }) => connectOften(`${url}/small.html`, seconds) },
  { name: 'resumed handshakes', run: ({ url }) => resumeOften(`${url}/small.html`, seconds) },
];

async function loadHttp1({ name, url, host }: Server, path: string): Promise<Amount> {
  const result = await load({ url: `${url}/${path}`, host, connections, seconds });
  if (result.failures > 0) throw new Error(`${name} failed ${result.failures} requests`);
  return { requests: result.requests, seconds: result.requests / result.requestsPerSecond };
}

/** A table with a row for each kind of load. */
export async function benchTls(): Promise<string> {
  const processes = availableParallelism();
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const { servers, stop } = await startContestants(dir, sizes, processes, { tls: true });
  const rows: string[] = [];
  try {
    for (const kind of kinds) rows.push(await compare(kind, servers));
  } finally {
    await stop();
    await rm(dir, { recursive: true, force: true });
  }
  return [
    `${processes} processes each (Caddy: \`GOMAXPROCS\`), ${rounds} interleaved rounds of ${seconds} s; medians. HTTP/1.1: wrk, ${connections} connections.`,
    'HTTP/2: h2load, 32 connections of 10 streams. Handshakes: connections with one request of 1 KB each. Ratios are',
    'those of wall time and of CPU seconds.',
    '',
    '| per second | edge | nginx | Caddy | edge ÷ nginx, wall | CPU | edge ÷ Caddy, wall | CPU |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

async function compare(kind: Kind, servers: Server[]): Promise<string> {
  const taken = new Map<string, Measured[]>(servers.map(({ name }) => [name, []]));
  for (const server of servers) await kind.run(server);
  for (let round = 0; round < rounds; round++)
    for (const server of servers) taken.get(server.name)?.push(await measure(kind, server));
  const of = (name: string) => taken.get(name) ?? [];
  const rates = [...taken.values()].map((all) => median(all.map(({ perSecond }) => perSecond)));
  const ratios = [contestants.nginx, contestants.caddy].flatMap((name) => ratiosOf(of(contestants.edge), of(name)));
  const cells = [...rates.map((rate) => Math.round(rate).toLocaleString('en')), ...ratios];
  return `| ${kind.name} | ${cells.join(' | ')} |`;
}

async function measure({ run }: Kind, server: Server): Promise<Measured> {
  const before = await cpuSeconds(server.pid);
  const amount = await run(server);
  const cpu = (await cpuSeconds(server.pid)) - before;
  return { perSecond: amount.requests / amount.seconds, perCpuSecond: amount.requests / cpu };
}

function ratiosOf(ours: Measured[], theirs: Measured[]): string[] {
  const values = (all: Measured[], of: keyof Measured) => all.map((one) => one[of]);
  const ratio = (of: keyof Measured) => medianRatio(values(ours, of), values(theirs, of));
  return [`**${ratio('perSecond').toFixed(2)}**`, ratio('perCpuSecond').toFixed(2)];
}
