/**
 * Exports spans by OTLP over HTTP in JSON. OpenTelemetry's own exporter buffers a response of any length, and its time-out only covers
 * silence, so a hostile collector could fill our memory. Here a batch has a total time-out, and only the status of a response is read.
 * A failed batch is dropped, not retried.
 */
import { type Attributes, TraceFlags } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import {
  BatchSpanProcessor,
  type ReadableSpan,
  type SpanExporter,
  type SpanProcessor,
} from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import type { Config } from '#runtime/config.ts';
import { countSpans } from './metrics.ts';

type Collector = Pick<NonNullable<Config['tracing']>, 'url' | 'headers' | 'timeoutMs' | 'delayMs'>;

/** Spans that are queued or being exported: some 4 MiB. Further spans are dropped. */
export const heldSpansMax = 2048;

/** Exports ended spans in batches and holds a bounded number of them, whatever the collector does. `abort` cancels running exports. */
export function createSpanProcessor(collector: Collector, log: Logger): SpanProcessor & { abort(): void } {
  const aborting = new AbortController();
  let pending = 0;
  const batches = new BatchSpanProcessor(
    createSpanExporter(collector, log, aborting.signal, (count) => (pending -= count)),
    {
      maxQueueSize: heldSpansMax,
      maxExportBatchSize: 512,
      scheduledDelayMillis: collector.delayMs,
      exportTimeoutMillis: collector.timeoutMs + 1_000,
    },
  );
  return {
    onStart() {},
    onEnd(span) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      if (pending >= heldSpansMax) return countSpans('dropped', 1);
      pending += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    abort: () => aborting.abort(),
  };
}

function createSpanExporter(
  { url, headers, timeoutMs }: Collector,
  log: Logger,
  aborted: AbortSignal,
  release: (count: number) => void,
): SpanExporter {
  const running = new Set<Promise<void>>();
  const logChange = createOutageLog(log);

  async function send(spans: ReadableSpan[]): Promise<void> {
    const body = JsonTraceSerializer.serializeRequest(spans.map(redacted));
    const response = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), aborted]),
    });
    response.body?.cancel().catch(() => {});
    if (!response.ok) throw new Rejected(`the collector returned ${response.status}`);
  }

  async function exportBatch(spans: ReadableSpan[]): Promise<void> {
    try {
      await send(spans);
      logChange();
      countSpans('exported', spans.length);
    } catch (error) {
      logChange(error as Error);
      countSpans('dropped', spans.length);
    }
    release(spans.length);
  }

  return {
    export(spans, done) {
      const exporting = exportBatch(spans).then(() => {
        running.delete(exporting);
        // Success even after a failure: the package would log each one.
        done({ code: 0 });
      });
      running.add(exporting);
    },
    async forceFlush() {
      await Promise.all(running);
    },
    async shutdown() {
      await Promise.all(running);
    },
  };
}

/** Logs one line when exports begin to fail and one when they succeed again. Never the collector's address, which may contain a key. */
function createOutageLog(log: Logger): (error?: Error) => void {
  let isDown = false;
  return (error) => {
    const wasDown = isDown;
    isDown = error !== undefined;
    const reason =
      error instanceof Rejected
        ? error.message
        : ((error?.cause as { code?: string } | undefined)?.code ?? error?.name);
    if (isDown && !wasDown) log.warn({ reason }, 'traces cannot be exported: spans are dropped');
    if (!isDown && wasDown) log.info('traces are being exported again');
  };
}

class Rejected extends Error {}

/** Exported attributes, besides ours (`frontage.…`). Others, which packages add, may contain text of an owner or a visitor. */
const exportedAttributes = new Set([
  'http.request.method',
  'http.route',
  'http.response.status_code',
  'temporalWorkflowId',
  'temporalActivityId',
  'run_id',
  'workflowId',
  'workflowType',
  'runId',
]);

/** The span without error messages and unknown attributes: a site's build may have chosen their text. */
function redacted(span: ReadableSpan): ReadableSpan {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(span.attributes))
    if ((exportedAttributes.has(name) || name.startsWith('frontage.')) && typeof value !== 'object')
      attributes[name] = value;
  const type = span.events.find(({ name }) => name === 'exception')?.attributes?.['exception.type'];
  if (typeof type === 'string' && /^[A-Za-z]\w{0,63}$/.test(type)) attributes['error.type'] = type;
  return Object.create(span, {
    attributes: { value: attributes },
    events: { value: [] },
    status: { value: { code: span.status.code } },
  });
}
