/** Metrics for Prometheus: counters of this process, and gauges of the database. docs/operations.md describes each. */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client';
import type { DatabaseMetrics } from '#db/metrics.ts';
import { gitOperations, setCounters } from './metrics.ts';

/** Of the API, by operation and status class. */
const requests = new Histogram({
  name: 'frontage_request_seconds',
  help: 'Time from receiving a request to sending its response.',
  labelNames: ['operation', 'status'],
  buckets: [0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30, 60],
});

/** Repairs by reconcilers: none in a healthy system. */
const repairs = new Counter({
  name: 'frontage_repairs_total',
  help: 'Rows that a reconciler repaired.',
  labelNames: ['repair'],
});

/** A worker's activities. A failed attempt is retried, so a few failures are harmless. */
const activities = new Histogram({
  name: 'frontage_activity_seconds',
  help: 'Duration of activities.',
  labelNames: ['activity', 'outcome'],
  buckets: [0.01, 0.05, 0.2, 1, 3, 10, 30, 120, 300, 1200],
});
const builds = new Counter({ name: 'frontage_builds_total', help: 'Finished builds.', labelNames: ['outcome'] });
const mails = new Counter({
  name: 'frontage_mails_total',
  help: 'Attempts to send an e-mail.',
  labelNames: ['outcome'],
});
const spans = new Counter({ name: 'frontage_spans_total', help: 'Trace spans.', labelNames: ['outcome'] });

for (const state of ['running', 'waiting'] as const)
  new Gauge({
    name: `frontage_git_${state}`,
    help: `Clones, fetches and pushes that are currently ${state}.`,
    collect() {
      this.set(gitOperations[state]);
    },
  });

setCounters({
  activity: (activity, outcome, seconds) => activities.observe({ activity, outcome }, seconds),
  build: (outcome) => builds.inc({ outcome }),
  mail: (outcome) => mails.inc({ outcome }),
  spans: (outcome, count) => spans.inc({ outcome }, count),
  repair: (repair) => repairs.inc({ repair }),
  request: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
});

const gauges: Record<keyof DatabaseMetrics, Gauge> = {
  outboxWaiting: gauge('outbox_waiting', 'Outbox entries that have not been sent.'),
  outboxOldestSeconds: gauge('outbox_oldest_seconds', 'Age of the oldest unsent outbox entry.'),
  buildsWaiting: gauge('builds_waiting', 'Publishes that are waiting to be built.'),
  buildsOldestSeconds: gauge('builds_oldest_seconds', 'Age of the oldest publish that is waiting to be built.'),
  mailsWaiting: gauge('mails_waiting', 'E-mails that are waiting to be sent.'),
  mailsOldestSeconds: gauge('mails_oldest_seconds', 'Age of the oldest e-mail that is waiting to be sent.'),
  flagsOpen: gauge('flags_open', 'Published files that a scan flagged and no operator has dismissed yet.'),
  unscannedOldestSeconds: gauge(
    'unscanned_oldest_seconds',
    'Age of the oldest visible version that has not been scanned.',
  ),
  certificateDaysLeft: gauge('certificate_days_left', 'Days until the next certificate expires.'),
};

/** Registered only while it has a value, so that a process without one does not report it. */
function gauge(name: string, help: string): Gauge {
  return new Gauge({ name: `frontage_${name}`, help, registers: [] });
}

/** Counts of an edge process: responses by kind and status, and how many fell into each duration bucket. */
type EdgeMetrics = {
  read(): { responses: { kind: string; status: string; count: number }[]; durations: number[]; seconds: number };
};

/** Registers the metrics of an edge. The edge counts by itself, thousands of times a second; they are read when Prometheus scrapes. */
export function registerEdgeMetrics(metrics: EdgeMetrics, bounds: readonly number[]): void {
  new Counter({
    name: 'frontage_edge_responses_total',
    help: 'Responses to visitors.',
    labelNames: ['kind', 'status'],
    collect() {
      this.reset();
      for (const { count, ...labels } of metrics.read().responses) this.inc(labels, count);
    },
  });
  const name = 'frontage_edge_seconds';
  const histogram = {
    name,
    help: 'Time from receiving a request to sending its response.',
    type: 'histogram',
    aggregator: 'sum',
  } as const;
  register.registerMetric({
    ...histogram,
    get: async () => ({ ...histogram, values: histogramValues(name, metrics.read(), bounds) }),
    reset() {},
  } as unknown as Histogram);
}

/** Buckets are cumulative, as Prometheus requires. */
function histogramValues(
  name: string,
  { durations, seconds }: ReturnType<EdgeMetrics['read']>,
  bounds: readonly number[],
) {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    count += durations[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: seconds },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}

let isCollecting = false;

/** Collects Node's metrics of the process: memory, handles, the event loop. */
export function collectProcessMetrics(): void {
  if (!isCollecting) collectDefaultMetrics();
  isCollecting = true;
}

/** All metrics in Prometheus's text format. */
export async function renderMetrics(database?: DatabaseMetrics): Promise<string> {
  const all = new Registry();
  for (const [name, one] of Object.entries(gauges) as [keyof DatabaseMetrics, Gauge][]) {
    const value = database?.[name];
    if (value === undefined) continue;
    one.set(value);
    all.registerMetric(one);
  }
  return Registry.merge([register, all]).metrics();
}

/** Returns a renderer for all processes of a cluster: the primary collects from workers that have called this too. */
export function clusterMetrics(): () => Promise<string> {
  const cluster = new AggregatorRegistry();
  return () => cluster.clusterMetrics();
}

export const metricsType = register.contentType;
