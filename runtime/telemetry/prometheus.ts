/** What a process counts of itself, and what an installation holds, for Prometheus. docs/operations.md says what each figure is. */
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, Registry, register } from 'prom-client';
import type { Figures } from '#db/metrics.ts';
import { countWith, gitPlaces } from './metrics.ts';

/** Of the API: by operation, and by the first digit of the status. */
const requests = new Histogram({
  name: 'frontage_request_seconds',
  help: 'Time that the API took to answer.',
  labelNames: ['operation', 'status'],
  buckets: [0.005, 0.02, 0.05, 0.1, 0.3, 1, 3, 10, 30, 60],
});

/** What the reconcilers mended: in a healthy system nothing. */
const repairs = new Counter({
  name: 'frontage_repairs_total',
  help: 'Rows that were found without what should work on them.',
  labelNames: ['repair'],
});

/** A worker's steps. One that fails is tried again, so that a few are nothing. */
const steps = new Histogram({
  name: 'frontage_step_seconds',
  help: 'Time that steps of workflows took.',
  labelNames: ['step', 'outcome'],
  buckets: [0.01, 0.05, 0.2, 1, 3, 10, 30, 120, 300, 1200],
});
const builds = new Counter({ name: 'frontage_builds_total', help: 'Builds that ended.', labelNames: ['outcome'] });
const mails = new Counter({ name: 'frontage_mails_total', help: 'Tries to send a mail.', labelNames: ['outcome'] });
const spans = new Counter({ name: 'frontage_spans_total', help: 'Spans of traces.', labelNames: ['outcome'] });

for (const place of ['running', 'waiting'] as const)
  new Gauge({
    name: `frontage_git_${place}`,
    help: `Clones, fetches and pushes that are ${place}.`,
    collect() {
      this.set(gitPlaces[place]);
    },
  });

countWith({
  step: (step, outcome, seconds) => steps.observe({ step, outcome }, seconds),
  build: (outcome) => builds.inc({ outcome }),
  mail: (outcome) => mails.inc({ outcome }),
  spans: (outcome, count) => spans.inc({ outcome }, count),
  repair: (way) => repairs.inc({ repair: way }),
  request: (operation, status, seconds) => requests.observe({ operation, status }, seconds),
});

const gauges: Record<keyof Figures, Gauge> = {
  outboxWaiting: gauge('outbox_waiting', 'Entries of the outbox that are not sent.'),
  outboxOldestSeconds: gauge('outbox_oldest_seconds', 'Age of the oldest of them.'),
  buildsWaiting: gauge('builds_waiting', 'Publishes that wait for their build.'),
  buildsOldestSeconds: gauge('builds_oldest_seconds', 'Age of the oldest of them.'),
  mailsWaiting: gauge('mails_waiting', 'Mails that are neither sent nor given up.'),
  mailsOldestSeconds: gauge('mails_oldest_seconds', 'Age of the oldest of them.'),
  flagsOpen: gauge('flags_open', 'Published files that a scan flagged and nobody has looked at.'),
  unscannedOldestSeconds: gauge('unscanned_oldest_seconds', 'Age of the oldest shown version that was not scanned.'),
  certificateDaysLeft: gauge('certificate_days_left', 'Days until the first certificate ends.'),
};

/** Registered when there is a figure for it, so that who has none shows none. */
function gauge(name: string, help: string): Gauge {
  return new Gauge({ name: `frontage_${name}`, help, registers: [] });
}

/** What an edge process counts by itself: answers, and of how many the time was within each bound. */
type Answers = {
  read(): { answers: { kind: string; status: string; count: number }[]; fast: number[]; seconds: number };
};

/** Tells the answers of an edge. What is counted thousands of times a second is counted by who answers, and only read here. */
export function tellAnswers(figures: Answers, bounds: readonly number[]): void {
  new Counter({
    name: 'frontage_edge_answers_total',
    help: 'Answers to visitors.',
    labelNames: ['kind', 'status'],
    collect() {
      this.reset();
      for (const { count, ...labels } of figures.read().answers) this.inc(labels, count);
    },
  });
  const name = 'frontage_edge_seconds';
  const told = { name, help: 'Time from a request to its answer.', type: 'histogram', aggregator: 'sum' } as const;
  register.registerMetric({
    ...told,
    get: async () => ({ ...told, values: histogramValues(name, figures.read(), bounds) }),
    reset() {},
  } as unknown as Histogram);
}

/** Each bucket holds all that was as fast as its bound, or faster. */
function histogramValues(name: string, { fast, seconds }: ReturnType<Answers['read']>, bounds: readonly number[]) {
  let count = 0;
  const buckets = [...bounds, '+Inf'].map((le, at) => {
    count += fast[at] ?? 0;
    return { metricName: `${name}_bucket`, labels: { le }, value: count };
  });
  return [
    ...buckets,
    { metricName: `${name}_sum`, labels: {}, value: seconds },
    { metricName: `${name}_count`, labels: {}, value: count },
  ];
}

let isCollecting = false;

/** Begins to count what Node knows of the process: memory, handles, the event loop. */
export function collectProcessMetrics(): void {
  if (!isCollecting) collectDefaultMetrics();
  isCollecting = true;
}

/** Everything counted, in Prometheus's words. */
export async function renderMetrics(figures?: Figures): Promise<string> {
  const all = new Registry();
  for (const [name, one] of Object.entries(gauges) as [keyof Figures, Gauge][]) {
    const value = figures?.[name];
    if (value === undefined) continue;
    one.set(value);
    all.registerMetric(one);
  }
  return Registry.merge([register, all]).metrics();
}

/** The same of all processes of a cluster: asked by the first, answered by those that have called this, too. */
export function openCluster(): () => Promise<string> {
  const cluster = new AggregatorRegistry();
  return () => cluster.clusterMetrics();
}

export const metricsType = register.contentType;
