/** Loaded where the configuration names a receiver: spans of this process, by OpenTelemetry. docs/operations.md says what is told. */
import { randomUUID } from 'node:crypto';
import { context, propagation, ROOT_CONTEXT, type Span, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  BatchSpanProcessor,
  NodeTracerProvider,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import type { Logger } from 'pino';
import type { Config } from './config.ts';
import { type OpenSpan, type SpanAttributes, type Spans, traceWith } from './spans.ts';
import { openTeller } from './telling.ts';

type Parts = { tracing: NonNullable<Config['tracing']>; process: string; log: Logger };

const kinds = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER };
/** Spans that wait to be told: some 4 MiB. What comes when there are as many is not told. */
const waitingMax = 2048;

/** Begins to tell. Who closes it waits at most `timeoutMs` of the configuration for the last ones. */
export function startTracing({ tracing, process, log }: Parts) {
  const resource = new Resource({
    'service.name': `frontage-${process}`,
    'service.namespace': 'frontage',
    'service.instance.id': randomUUID(),
    ...tracing.resource,
    ...(tracing.serviceName ? { 'service.name': tracing.serviceName } : {}),
  });
  const processor = new BatchSpanProcessor(openTeller(tracing, log), {
    maxQueueSize: waitingMax,
    maxExportBatchSize: 512,
    scheduledDelayMillis: tracing.delayMs,
    exportTimeoutMillis: tracing.timeoutMs + 1_000,
  });
  const provider = new NodeTracerProvider({
    resource,
    sampler: samplerOf(tracing),
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32 },
    spanProcessors: [processor],
  });
  provider.register();
  traceWith(openSpans());
  return {
    resource,
    processor,
    async close(): Promise<void> {
      traceWith(undefined);
      // A receiver that is gone is no reason not to end.
      await provider.shutdown().catch(() => {});
    },
  };
}

export type Tracing = ReturnType<typeof startTracing>;

function openSpans(): Spans {
  const tracer = trace.getTracer('frontage');
  const client = new OpenTelemetryWorkflowClientInterceptor();
  return {
    begin(name, { kind, parent, since, attributes = {} }) {
      const options = { kind: kinds[kind], attributes, ...(since ? { startTime: since } : {}) };
      return asOpen(tracer.startSpan(name, options, contextOf(parent)));
    },
    during: (name, act) =>
      tracer.startActiveSpan(name, async (span) => {
        const open = asOpen(span);
        try {
          const result = await act((attributes) => void span.setAttributes(attributes));
          open.end();
          return result;
        } catch (error) {
          open.end({}, 'fault');
          throw error;
        }
      }),
    inside: (traceparent, act) => context.with(contextOf(traceparent), act),
    present() {
      const span = trace.getActiveSpan();
      return span && traceparentOf(span);
    },
    client: { start: client.start.bind(client), signal: client.signal.bind(client) },
  };
}

function asOpen(span: Span): OpenSpan {
  return {
    traceparent: traceparentOf(span),
    end(attributes: SpanAttributes = {}, how = 'ok') {
      span.setAttributes(attributes);
      if (how === 'fault') span.setStatus({ code: SpanStatusCode.ERROR });
      span.end();
    },
  };
}

function contextOf(traceparent: string | undefined) {
  return traceparent === undefined ? ROOT_CONTEXT : propagation.extract(ROOT_CONTEXT, { traceparent });
}

function traceparentOf(span: Span): string {
  const { traceId, spanId, traceFlags } = span.spanContext();
  return `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
}

function samplerOf({ sampler, samplerArg }: Parts['tracing']): Sampler {
  const root = sampler.endsWith('always_off')
    ? new AlwaysOffSampler()
    : sampler.endsWith('always_on')
      ? new AlwaysOnSampler()
      : new TraceIdRatioBasedSampler(samplerArg);
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}
