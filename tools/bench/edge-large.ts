/** The cost of one large site, or of very many small ones: delays for other sites, and memory. */
import type { ChildProcess } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ManifestFile } from '#providers/manifest.ts';
import { end, type Server, startEdge } from './edge-contestants.ts';
import { domain, type Sites, startSites } from './edge-sites.ts';
import { load } from './load.ts';
import { median, residentBytes } from './measure.ts';

const seconds = 6;

/** Runs `act` with sites and an edge of this many processes; stops both afterwards. */
async function withEdge(
  workers: number,
  prepare: (sites: Sites) => Promise<void>,
  run: (sites: Sites, edge: Server) => Promise<void>,
): Promise<void> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-bench-'));
  const sites = await startSites(dir);
  const children: ChildProcess[] = [];
  try {
    await prepare(sites);
    await run(sites, await startEdge(dir, sites.databaseUrl, workers, children));
  } finally {
    await Promise.all(children.map(end));
    await sites.stop();
    await rm(dir, { recursive: true, force: true });
  }
}

/** First requests after publishes of a large site, and the delays of other sites' visitors, with one process. */
export async function benchLargeSites(): Promise<void> {
  let manifests: Record<number, string[]> = {};
  const prepare = async (sites: Sites) => {
    await sites.publish('bench', await sites.keep([{ path: 'index.html', content: randomBytes(1024) }]));
    manifests = {
      200: await versions(sites, 200),
      5000: await versions(sites, 5_000),
      25000: await versions(sites, 25_000),
    };
  };
  await withEdge(1, prepare, async (sites, edge) => {
    const others = () => load({ url: `${edge.url}/`, host: edge.host, connections: 16, seconds });
    await others();
    const alone = await others();
    console.log(`other sites, without publishes: p99 ${alone.p99Ms} ms`);
    for (const [files, [first = '', ...more]] of Object.entries(manifests)) {
      const siteId = await sites.publish(`large-${files}`, first);
      const [waited, firsts] = await Promise.all([
        others(),
        publishAndAsk(sites, edge, siteId, `large-${files}`, more),
      ]);
      console.log(
        `a site of ${files} files, published ${firsts.length} times in ${seconds} s: first request ${median(firsts).toFixed(1)} ms,`,
        `p99 of other sites ${waited.p99Ms} ms`,
      );
    }
  });
}

/** Eleven versions that differ in one file. */
async function versions(sites: Sites, count: number): Promise<string[]> {
  const [page] = await sites.put([{ path: '', content: Buffer.from('page') }]);
  const found: string[] = [];
  for (let version = 0; version <= 10; version++) {
    const [index] = await sites.put([{ path: 'index.html', content: Buffer.from(`version ${version} of ${count}`) }]);
    const pages = Array.from({ length: count - 1 }, (_, n) => ({
      ...page,
      path: `posts/a-post-of-some-length-${n}/index.html`,
    }));
    found.push(await sites.keepManifest([index, ...pages] as Parameters<Sites['keepManifest']>[0]));
  }
  return found;
}

async function publishAndAsk(
  sites: Sites,
  edge: Server,
  siteId: string,
  name: string,
  manifests: string[],
): Promise<number[]> {
  const firsts: number[] = [];
  for (const manifest of manifests) {
    await sites.goLive(siteId, manifest);
    // Until the edge sees the publish, it serves the old version from memory. The slowest request is therefore the
    // first one for the new version.
    let slowest = 0;
    for (const until = performance.now() + (seconds * 1000) / (manifests.length + 1); performance.now() < until; ) {
      const began = performance.now();
      await visit(edge, name);
      slowest = Math.max(slowest, performance.now() - began);
      await sleep(10);
    }
    firsts.push(slowest);
  }
  return firsts;
}

function visit(edge: Server, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    request(`${edge.url}/`, { headers: { host: `${name}.${domain}` } }, (answer) => {
      answer.resume().once('end', resolve);
    })
      .once('error', reject)
      .end();
  });
}

const many = { sites: 2_000, pages: 200, blobs: 2_000, blobBytes: 200_000 };

/**
 * Memory of an edge whose visitors request every page of 2,000 sites with 200 files each, more bytes than its cache can
 * hold.
 */
export async function benchManySites(workers: number): Promise<void> {
  const prepare = async (sites: Sites) => {
    const content = randomBytes(many.blobBytes);
    const blobs: ManifestFile[] = [];
    for (let n = 0; n < many.blobs; n++) {
      content.writeUInt32BE(n);
      blobs.push(...(await sites.put([{ path: '', content }])));
    }
    for (let n = 0; n < many.sites; n++) {
      const lines = Array.from({ length: many.pages }, (_, page) => ({
        ...(blobs[(n * 7 + page) % blobs.length] as ManifestFile),
        path: `page-${page}.html`,
      }));
      await sites.publish(`site-${n}`, await sites.keepManifest(lines));
    }
  };
  await withEdge(workers, prepare, async (_sites, edge) => {
    const atStart = await residentBytes(edge.pid);
    const script = { name: 'many-sites.lua', args: [String(many.sites), String(many.pages), domain] };
    const result = await load({ url: edge.url, host: edge.host, connections: 32, seconds: 60, script });
    const mib = (bytes: number) => Math.round(bytes / 1024 / 1024);
    console.log(
      `${many.sites} sites of ${many.pages} files, ${result.requests} requests to random sites, ${result.failures} failed,`,
      `${workers} processes: ${mib(await residentBytes(edge.pid))} MiB resident (${mib(atStart)} at the start), p99 ${result.p99Ms} ms`,
    );
  });
}
