/** One process of the edge that answers visitors. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openNotifications } from '#db/notifications.ts';
import { openEdgeStore } from '#providers/store/factory.ts';
import { systemClock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { openCountsDatabase } from './analytics/database.ts';
import { type Counting, openCounting } from './analytics/page-views.ts';
import { openVisitors } from './analytics/visitors.ts';
import { type Ready, sharesPort } from './cluster.ts';
import { createEdge } from './edge.ts';
import { openChallenges } from './http/acme-challenges.ts';
import { openCertificates } from './http/certificates.ts';
import { openCertificatesDatabase } from './http/certificates-database.ts';
import { listen } from './http/listener.ts';
import { type AnswerFigures, answerBounds, openAnswerFigures } from './http/metrics.ts';
import { openEdgeDatabase } from './routing/database.ts';

type Parts = {
  config: Config;
  log: Logger;
  /** How many processes share the memory and the port. */
  processes: number;
  onReady: (message: Ready) => void;
  onFault: (err: unknown) => void;
};

/** Answers what ends it, in order. */
export async function startOne({ config, log, processes, onReady, onFault }: Parts): Promise<() => Promise<void>> {
  const { tlsPort } = config.edge;
  const isOverTls = config.edgeUrl.startsWith('https:');
  const leaving = new AbortController();
  const changes = openNotifications(config.databaseUrl, log);
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
    leaving: leaving.signal,
    sitesFile: join(config.dataDir, 'edge', 'sites.json'),
    cacheBytes: Math.floor(config.edge.cacheBytes / processes),
  });
  let listening: Awaited<ReturnType<typeof listen>> | undefined;
  const figures = config.metrics && (await tellFigures());
  const counting = config.analytics ? startCounting(config, log) : undefined;
  const started = Promise.all([edge.ready, counting?.ready, certificates?.ready]).then(async () => {
    const { host, port, accessLog } = config.edge;
    listening = await listen(edge, {
      host,
      port,
      baseUrl: config.baseUrl,
      clock: systemClock,
      sharesPort,
      closeWithinMs: config.ending.graceMs,
      accessLog: accessLog ? log : undefined,
      counting,
      figures,
      challenges: openChallenges(asked),
      fronts: config.edge.fronts.length > 0 ? { trusted: config.edge.fronts } : undefined,
      tls: certificates && {
        port: tlsPort ?? 0,
        certificates,
        database: asked,
        clock: systemClock,
        log,
        sealing: config.sealing,
      },
    });
    onReady({ ready: true, url: `http://${host}:${listening.port}`, tlsPort: listening.tlsPort });
  });
  started.catch(onFault);
  return async () => {
    leaving.abort();
    listening?.drain();
    // Whoever shares out connections has to see that this edge is not ready before it refuses any.
    await new Promise((resolve) => setTimeout(resolve, config.ending.drainMs));
    await listening?.close();
    await Promise.all([edge.close(), counting?.close(), certificates?.close()]);
    await Promise.all([changes.close(), database.close(), asked.close()]);
  };
}

/** Prometheus's library is loaded where it is asked. */
async function tellFigures(): Promise<AnswerFigures> {
  const { registerEdgeMetrics: tellAnswers } = await import('#runtime/telemetry/prometheus.ts');
  const figures = openAnswerFigures();
  tellAnswers(figures, answerBounds);
  return figures;
}

/** Counts for this process, whose name in the rows no other has. */
function startCounting(config: Config, log: Logger): Counting {
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
