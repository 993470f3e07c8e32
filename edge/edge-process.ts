/** A process of the edge that serves visitors. */
import { randomBytes } from 'node:crypto';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { openNotifications } from '#db/notifications.ts';
import { openEdgeStore } from '#providers/store/factory.ts';
import { systemClock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { openViewsDatabase } from './analytics/database.ts';
import { openPageViews, type PageViews } from './analytics/page-views.ts';
import { createVisitors } from './analytics/visitors.ts';
import { type Ready, sharesPort } from './cluster.ts';
import { createEdge } from './edge.ts';
import { createChallengeResponder } from './http/acme-challenges.ts';
import { openCertificates } from './http/certificates.ts';
import { openCertificatesDatabase } from './http/certificates-database.ts';
import { listen } from './http/listener.ts';
import { createResponseMetrics, durationBounds, type ResponseMetrics } from './http/metrics.ts';
import { openEdgeDatabase } from './routing/database.ts';

type Parts = {
  config: Config;
  log: Logger;
  /** Number of processes that share memory and port. */
  processes: number;
  onReady: (message: Ready) => void;
  onFault: (err: unknown) => void;
};

/** Returns the function that shuts it down in order. */
export async function startEdgeProcess({
  config,
  log,
  processes,
  onReady,
  onFault,
}: Parts): Promise<() => Promise<void>> {
  const { tlsPort } = config.edge;
  const isOverTls = config.edgeUrl.startsWith('https:');
  const shutdown = new AbortController();
  const notifications = openNotifications(config.databaseUrl, log);
  const database = openEdgeDatabase(config.databaseUrl);
  const certificatesDatabase = openCertificatesDatabase(config.databaseUrl);
  const certificates =
    tlsPort === undefined
      ? undefined
      : openCertificates({
          ...config,
          encryptionKeys: config.encryptionKeys,
          database: certificatesDatabase,
          notifications,
          log,
          isServed: (host) => edge.serves(host),
        });
  const edge = createEdge({
    edgeUrl: config.edgeUrl,
    baseUrl: config.baseUrl,
    tls: certificates && { port: config.publicPorts.tls, own: () => (isOverTls ? certificates.own() : undefined) },
    baseDomain: config.baseDomain,
    store: openEdgeStore(config, { clock: systemClock, log, processes }),
    database,
    notifications,
    clock: systemClock,
    log,
    shutdown: shutdown.signal,
    sitesFile: join(config.dataDir, 'edge', 'sites.db'),
    cacheBytes: Math.floor(config.edge.cacheBytes / processes),
  });
  let listening: Awaited<ReturnType<typeof listen>> | undefined;
  const metrics = config.metrics && (await exposeMetrics());
  const pageViews = config.analytics ? startPageViews(config, log) : undefined;
  const started = Promise.all([edge.ready, pageViews?.ready, certificates?.ready]).then(async () => {
    const { host, port, accessLog } = config.edge;
    listening = await listen(edge, {
      host,
      port,
      baseUrl: config.baseUrl,
      clock: systemClock,
      sharesPort,
      closeWithinMs: config.ending.graceMs,
      accessLog: accessLog ? log : undefined,
      pageViews,
      metrics,
      challenges: createChallengeResponder(certificatesDatabase),
      proxyProtocol: config.edge.fronts.length > 0 ? { trusted: config.edge.fronts } : undefined,
      tls: certificates && {
        port: tlsPort ?? 0,
        certificates,
        database: certificatesDatabase,
        clock: systemClock,
        log,
        encryptionKeys: config.encryptionKeys,
      },
    });
    onReady({ ready: true, url: `http://${host}:${listening.port}`, tlsPort: listening.tlsPort });
  });
  started.catch(onFault);
  return async () => {
    shutdown.abort();
    listening?.drain();
    // A load balancer must see "not ready" before this edge refuses connections.
    await new Promise((resolve) => setTimeout(resolve, config.ending.drainMs));
    await listening?.close();
    await Promise.all([edge.close(), pageViews?.close(), certificates?.close()]);
    await Promise.all([notifications.close(), database.close(), certificatesDatabase.close()]);
  };
}

/** Prometheus's library is loaded only with a metrics port. */
async function exposeMetrics(): Promise<ResponseMetrics> {
  const { registerEdgeMetrics } = await import('#runtime/telemetry/prometheus.ts');
  const metrics = createResponseMetrics();
  registerEdgeMetrics(metrics, durationBounds);
  return metrics;
}

/** Counts page views under a writer name that no other process has. */
function startPageViews(config: Config, log: Logger): PageViews {
  const database = openViewsDatabase(config.databaseUrl, randomBytes(12).toString('base64url'));
  const visitors = createVisitors(config);
  const pageViews = openPageViews({ database, visitors, clock: systemClock, log, secret: config.secret });
  return {
    ...pageViews,
    async close() {
      await pageViews.close();
      await database.close();
    },
  };
}
