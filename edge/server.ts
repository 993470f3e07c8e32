/** Entry of the edge: `node edge/server.ts`. Tells its parent `{ ready, url }`; ends on SIGTERM, SIGINT or the loss of its parent. */
import cluster from 'node:cluster';
import { randomBytes } from 'node:crypto';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '../clock.ts';
import { readConfig } from '../config.ts';
import { openChanges } from '../db/changes.ts';
import { openLog } from '../log.ts';
import { openEdgeStore } from '../providers/store/open.ts';
import { openCertificates } from './certificates.ts';
import { openCertificatesDatabase } from './certificates-database.ts';
import { openChallenges } from './challenges.ts';
import { type Counting, openCounting } from './counting.ts';
import { openCountsDatabase } from './counts-database.ts';
import { openEdgeDatabase } from './database.ts';
import { createEdge } from './edge.ts';
import { listen } from './listen.ts';
import { type Ready, sharesPort, startProcesses } from './processes.ts';
import { openVisitors } from './visitors.ts';

const config = readConfig();
const log = openLog(config, 'edge');
const { tlsPort } = config.edge;
const isOverTls = config.edgeUrl.startsWith('https:');
const processes = config.edge.processes || availableParallelism();

/** One process that answers visitors. */
async function startOne(): Promise<() => Promise<void>> {
  const changes = openChanges(config.databaseUrl, log);
  const database = openEdgeDatabase(config.databaseUrl);
  const asked = openCertificatesDatabase(config.databaseUrl);
  const certificates =
    tlsPort === undefined
      ? undefined
      : openCertificates({ ...config, database: asked, changes, log, isServed: (host) => edge.serves(host) });
  const edge = createEdge({
    edgeUrl: config.edgeUrl,
    tls: certificates && { port: config.publicPorts.tls, own: () => (isOverTls ? certificates.own() : undefined) },
    baseDomain: config.baseDomain,
    store: openEdgeStore(config, { clock: systemClock, log, processes }),
    database,
    changes,
    clock: systemClock,
    log,
    sitesFile: join(config.dataDir, 'edge', 'sites.json'),
    cacheBytes: Math.floor(config.edge.cacheBytes / processes),
  });
  let listening: Awaited<ReturnType<typeof listen>> | undefined;
  const counting = config.analytics ? startCounting() : undefined;
  const started = Promise.all([edge.ready, counting?.ready, certificates?.ready]).then(async () => {
    const { host, port, accessLog } = config.edge;
    listening = await listen(edge, {
      host,
      port,
      baseUrl: config.baseUrl,
      clock: systemClock,
      sharesPort,
      accessLog: accessLog ? log : undefined,
      counting,
      challenges: openChallenges(asked),
      tls: certificates && {
        port: tlsPort ?? 0,
        certificates,
        database: asked,
        clock: systemClock,
        log,
        sealing: config.sealing,
      },
    });
    tellParent({ ready: true, url: `http://${host}:${listening.port}`, tlsPort: listening.tlsPort });
  });
  started.catch(die);
  return async () => {
    await listening?.close();
    await Promise.all([edge.close(), counting?.close(), certificates?.close()]);
    await Promise.all([changes.close(), database.close(), asked.close()]);
  };
}

/** Counts for this process, whose name in the rows no other has. */
function startCounting(): Counting {
  const database = openCountsDatabase(config.databaseUrl, randomBytes(12).toString('base64url'));
  const visitors = openVisitors(config);
  const counting = openCounting({ database, visitors, clock: systemClock, log, secret: config.secret });
  return {
    ...counting,
    async close() {
      await counting.close();
      await database.close();
    },
  };
}

async function startAll(): Promise<() => Promise<void>> {
  const { host, port } = config.edge;
  return (await startProcesses({ count: processes, host, port, tlsPort, log, onReady: tellParent })).stop;
}

function tellParent(message: Ready): void {
  if (cluster.isPrimary) log.info({ url: message.url, processes }, 'the edge answers');
  process.send?.(message);
}

function die(err: unknown): void {
  log.fatal({ err }, 'the edge ends by a fault');
  process.exit(1);
}

process.on('uncaughtException', die);
process.on('unhandledRejection', die);
const stop = cluster.isPrimary && processes > 1 ? await startAll() : await startOne();

let stopping = false;
function end(): void {
  if (stopping) return;
  stopping = true;
  stop().then(() => process.exit(0), die);
}
process.on('SIGTERM', end);
process.on('SIGINT', end);
process.on('disconnect', end);
