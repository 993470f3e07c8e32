/** What the number of sites costs an edge: its start, its memory, and the delays of visitors while other sites are published. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { end, type Server, startEdge } from './edge-contestants.ts';
import { type Sites, startSites } from './edge-sites.ts';
import { type LoadResult, load } from './load.ts';
import { median, residentBytes } from './measure.ts';

const seconds = 4;
const rounds = 3;
const connections = 16;
const publishesPerSecond = 20;
const processes = availableParallelism();

/** A table with a row for each number of sites. `quick` measures a tenth of them. */
export async function benchSites(): Promise<string> {
  const quick = process.argv.includes('--quick') ? 10 : 1;
  const rows: string[] = [];
  for (const count of [1_000, 100_000, 1_000_000]) rows.push(await measure(count / quick));
  return [
    `One edge of ${processes} processes, ${connections} connections to one site; medians of ${rounds} rounds of ${seconds} s.`,
    `“Publishes elsewhere”: ${publishesPerSecond} sites a second get another version.`,
    '',
    '| sites | first start | later starts | memory at the start | p99 | p99 with publishes elsewhere | requests/s | with publishes |',
    '| --- | --- | --- | --- | --- | --- | --- | --- |',
    ...rows,
  ].join('\n');
}

async function measure(count: number): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const sites = await startSites(dir);
  const children: ChildProcess[] = [];
  try {
    const manifests = await Promise.all(
      ['one', 'two'].map((content) => sites.keep([{ path: 'index.html', content: Buffer.from(content) }])),
    );
    await addSites(sites, count, manifests);
    await sites.publish('bench', await sites.keep([{ path: 'index.html', content: randomBytes(1024) }]));
    const first = await start(dir, sites, children);
    await Promise.all(children.map(end));
    const later = await start(dir, sites, children);
    const cells = [
      count.toLocaleString('en'),
      `${(first.ms / 1000).toFixed(1)} s`,
      `${(later.ms / 1000).toFixed(1)} s`,
      `${Math.round((await residentBytes(later.edge.pid)) / 1024 / 1024)} MiB`,
      ...(await measureVisits(sites, count, later.edge)),
    ];
    return `| ${cells.join(' | ')} |`;
  } finally {
    await Promise.all(children.map(end));
    await sites.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

async function start(dir: string, sites: Sites, children: ChildProcess[]) {
  const began = performance.now();
  const edge = await startEdge(dir, sites.databaseUrl, processes, children);
  return { edge, ms: performance.now() - began };
}

/** Delay and throughput, each without and with publishes elsewhere. */
async function measureVisits(sites: Sites, count: number, edge: Server): Promise<string[]> {
  await visit(edge);
  const alone: LoadResult[] = [];
  const beside: LoadResult[] = [];
  for (let round = 0; round < rounds; round++) {
    alone.push(await visit(edge));
    beside.push(await whilePublishing(sites, count, () => visit(edge)));
  }
  return [
    ...[alone, beside].map((all) => `${median(all.map(({ p99Ms }) => p99Ms)).toFixed(1)} ms`),
    ...[alone, beside].map((all) => Math.round(median(all.map((one) => one.requestsPerSecond))).toLocaleString('en')),
  ];
}

const visit = (edge: Server) => load({ url: `${edge.url}/`, host: edge.host, connections, seconds });

/** Each site has two versions, of which the first is live. */
async function addSites(sites: Sites, count: number, manifests: string[]): Promise<void> {
  const numbers = `from generate_series(1, ${count}) as n`;
  await sites.query(
    `insert into site (id, account_id, name, title, template, status, public_id, created_at)
     select 'site_bench' || n, (select id from account limit 1), 'many-' || n, 'Many', 'blank', 'active', 'p' || n, now() ${numbers}`,
  );
  for (const [version, manifest] of manifests.entries())
    await sites.query(
      `insert into deployment (id, site_id, number, kind, status, ticket, site_url, manifest_sha256, created_by_id, created_at, live_at)
       select 'dep_bench${version}_' || n, 'site_bench' || n, ${version + 1}, 'site', 'retired', ${version + 1}, 'http://bench.test', '${manifest}',
         (select id from account limit 1), now(), now() ${numbers}`,
    );
  await sites.query(`update site set live_deployment_id = 'dep_bench0_' || substr(id, 11) where id like 'site_bench%'`);
  await sites.query('vacuum analyze');
}

async function whilePublishing<Value>(sites: Sites, count: number, run: () => Promise<Value>): Promise<Value> {
  let isRunning = true;
  const publishing = (async () => {
    for (let n = 0; isRunning; n++) {
      const site = 1 + ((n * 7_919) % count);
      const version = Math.floor(n / count) % 2 === 0 ? 1 : 0;
      await sites.query(
        `update site set live_deployment_id = 'dep_bench${version}_${site}' where id = 'site_bench${site}'`,
      );
      await sleep(1000 / publishesPerSecond);
    }
  })();
  try {
    return await run();
  } finally {
    isRunning = false;
    await publishing;
  }
}
