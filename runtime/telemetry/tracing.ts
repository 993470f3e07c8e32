/** Loaded where the configuration names a receiver: spans of this process, by OpenTelemetry. docs/operations.md says what is told. */
import { randomUUID } from 'node:crypto';
import {
  context,
  propagation,
  ROOT_CONTEXT,
  type Span,
  SpanKind,
  SpanStatusCode,
  type Tracer,
  trace,
} from '@opentelemetry/api';
import { Resource } from '@opentelemetry/resources';
import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  NodeTracerProvider,
  ParentBasedSampler,
  type Sampler,
  TraceIdRatioBasedSampler,
} from '@opentelemetry/sdk-trace-node';
import { OpenTelemetryWorkflowClientInterceptor } from '@temporalio/interceptors-opentelemetry/lib/client/index.js';
import type { Logger } from 'pino';
import type { Config } from '#runtime/config.ts';
import { openTelling } from './exporter.ts';
import { type OpenSpan, type SpanAttributes, type Spans, traceWith } from './spans.ts';

type Parts = { tracing: NonNullable<Config['tracing']>; process: string; log: Logger };

const kinds = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER };
/** What a process that ends waits for the receiver. */
const lastMs = 2_000;

/** Begins to tell. */
export function startTracing({ tracing, process, log }: Parts) {
  const resource = new Resource({
    'service.name': `frontage-${process}`,
    'service.namespace': 'frontage',
    'service.instance.id': randomUUID(),
    ...tracing.resource,
    ...(tracing.serviceName ? { 'service.name': tracing.serviceName } : {}),
  });
  const processor = openTelling(tracing, log);
  const provider = new NodeTracerProvider({
    resource,
    sampler: samplerOf(tracing),
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32 },
    spanProcessors: [processor],
  });
  provider.register();
  traceWith(openSpans(provider.getTracer('frontage')));
  return {
    resource,
    processor,
    async close(): Promise<void> {
      traceWith(undefined);
      // A receiver that is gone is no reason not to end.
      const timer = setTimeout(processor.end, lastMs);
      await provider.shutdown().catch(() => {});
      clearTimeout(timer);
      for (const one of [trace, context, propagation]) one.disable();
    },
  };
}

export type Tracing = ReturnType<typeof startTracing>;

function openSpans(tracer: Tracer): Spans {
  const client = new OpenTelemetryWorkflowClientInterceptor({ tracer });
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
