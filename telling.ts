/**
 * Tells spans to a receiver: OTLP over HTTP, as JSON. The package's own exporter takes an answer of any length, and its time-out is one of
 * silence: a receiver that is slow on purpose would have our memory. Here a batch has its seconds, and no more of an answer is read than its
 * status. What is not taken is not told again: a trace is worth less than what it is of.
 */
import type { Attributes } from '@opentelemetry/api';
import { JsonTraceSerializer } from '@opentelemetry/otlp-transformer';
import type { ReadableSpan, SpanExporter } from '@opentelemetry/sdk-trace-node';
import type { Logger } from 'pino';
import type { Config } from './config.ts';

type Receiver = Pick<NonNullable<Config['tracing']>, 'url' | 'headers' | 'timeoutMs'>;

const [success, failed] = [0, 1];

export function openTeller({ url, headers, timeoutMs }: Receiver, log: Logger): SpanExporter {
  const underWay = new Set<Promise<void>>();
  let isDown = false;

  async function tell(spans: ReadableSpan[]): Promise<void> {
    const body = JsonTraceSerializer.serializeRequest(spans.map(harmless));
    const answer = await fetch(url, {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: body as Uint8Array<ArrayBuffer>,
      redirect: 'error',
      signal: AbortSignal.timeout(timeoutMs),
    });
    answer.body?.cancel().catch(() => {});
    if (!answer.ok) throw new Error(`the receiver of traces answers ${answer.status}`);
  }

  function note(reason: string | undefined): void {
    const isNews = isDown !== (reason !== undefined);
    isDown = reason !== undefined;
    if (!isNews) return;
    if (isDown) log.warn({ reason }, 'traces cannot be told: what is not taken is lost');
    else log.info('traces are told again');
  }

  return {
    export(spans, done) {
      const telling = tell(spans).then(
        () => {
          note(undefined);
          done({ code: success });
        },
        (error: Error & { cause?: { code?: string } }) => {
          // Never the address, which may hold a key.
          note(error.cause?.code ?? (error.message.startsWith('the receiver') ? error.message : error.name));
          // Said once above; the package would say it each time.
          done({ code: isDown ? success : failed });
        },
      );
      underWay.add(telling);
      void telling.finally(() => underWay.delete(telling));
    },
    async forceFlush() {
      await Promise.all(underWay);
    },
    async shutdown() {
      await Promise.all(underWay);
    },
  };
}

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
