/**
 * Tells spans to a receiver: OTLP over HTTP, as JSON. The package's own exporter takes an answer of any length, and its time-out is one of
 * silence: a receiver that is slow on purpose would have our memory. Here a batch has its seconds, and no more of an answer is read than its
 * status. What is not taken is not told again: a trace is worth less than what it is of.
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

type Receiver = Pick<NonNullable<Config['tracing']>, 'url' | 'headers' | 'timeoutMs' | 'delayMs'>;

/** Spans that wait or are on their way: some 4 MiB. What comes when there are as many is lost. */
export const heldMax = 2048;

/** Takes what ends, tells it in batches, and holds a bounded number whatever the receiver does. `end` gives up what is on its way. */
export function openTelling(receiver: Receiver, log: Logger): SpanProcessor & { end(): void } {
  const ending = new AbortController();
  let held = 0;
  const batches = new BatchSpanProcessor(
    openTeller(receiver, log, ending.signal, (count) => (held -= count)),
    {
      maxQueueSize: heldMax,
      maxExportBatchSize: 512,
      scheduledDelayMillis: receiver.delayMs,
      exportTimeoutMillis: receiver.timeoutMs + 1_000,
    },
  );
  return {
    onStart() {},
    onEnd(span) {
      if ((span.spanContext().traceFlags & TraceFlags.SAMPLED) === 0) return;
      if (held >= heldMax) return countSpans('lost', 1);
      held += 1;
      batches.onEnd(span);
    },
    forceFlush: () => batches.forceFlush(),
    shutdown: () => batches.shutdown(),
    end: () => ending.abort(),
  };
}

function openTeller(
  { url, headers, timeoutMs }: Receiver,
  log: Logger,
  ending: AbortSignal,
  letGo: (count: number) => void,
): SpanExporter {
  const underWay = new Set<Promise<void>>();
  let isDown = false;

  async function tell(spans: ReadableSpan[]): Promise<void> {
    const body = JsonTraceSerializer.serializeRequest(spans.map(harmless));
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'error',
      signal: AbortSignal.any([AbortSignal.timeout(timeoutMs), ending]),
    });
    answer.body?.cancel().catch(() => {});
    if (!answer.ok) throw new Refused(`the receiver answers ${answer.status}`);
  }

  /** A receiver that is gone is one line, and so is its return. Never its address, which may hold a key. */
  function note(error?: Error & { cause?: { code?: string } }): void {
    const wasDown = isDown;
    isDown = error !== undefined;
    const reason = error instanceof Refused ? error.message : (error?.cause?.code ?? error?.name);
    if (isDown && !wasDown) log.warn({ reason }, 'traces cannot be told: what is not taken is lost');
    if (!isDown && wasDown) log.info('traces are told again');
  }

  return {
    export(spans, done) {
      const telling = tell(spans)
        .then(
          () => 'told' as const,
          (error) => {
            note(error);
            return 'lost' as const;
          },
        )
        .then((outcome) => {
          if (outcome === 'told') note();
          countSpans(outcome, spans.length);
          letGo(spans.length);
          underWay.delete(telling);
          // Said above once: the package would say it each time.
          done({ code: 0 });
        });
      underWay.add(telling);
    },
    async forceFlush() {
      await Promise.all(underWay);
    },
    async shutdown() {
      await Promise.all(underWay);
    },
  };
}

class Refused extends Error {}

/** What is told of a span: these, and what is ours by name. Whatever else packages add may hold what an owner or a visitor wrote. */
const told = new Set([
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

/** Without the words of errors: a site's build may have chosen them. */
function harmless(span: ReadableSpan): ReadableSpan {
  const attributes: Attributes = {};
  for (const [name, value] of Object.entries(span.attributes))
    if ((told.has(name) || name.startsWith('frontage.')) && typeof value !== 'object') attributes[name] = value;
  const type = span.events.find(({ name }) => name === 'exception')?.attributes?.['exception.type'];
  if (typeof type === 'string' && /^[A-Za-z]\w{0,63}$/.test(type)) attributes['error.type'] = type;
  return Object.create(span, {
    attributes: { value: attributes },
    events: { value: [] },
    status: { value: { code: span.status.code } },
  });
}
