/** Exports spans of this process by OpenTelemetry. Loaded only if a collector is configured. docs/operations.md lists what is exported. */
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
import { createSpanProcessor } from './exporter.ts';
import { type SpanAttributes, type Spans, type StartedSpan, setSpans } from './spans.ts';

type Parts = { tracing: NonNullable<Config['tracing']>; process: string; log: Logger };

const kinds = { server: SpanKind.SERVER, producer: SpanKind.PRODUCER };
/** How long a process that ends waits for the collector. */
const shutdownMs = 2_000;

export function startTracing({ tracing, process, log }: Parts) {
  const resource = new Resource({
    'service.name': `frontage-${process}`,
    'service.namespace': 'frontage',
    'service.instance.id': randomUUID(),
    ...tracing.resource,
    ...(tracing.serviceName ? { 'service.name': tracing.serviceName } : {}),
  });
  const processor = createSpanProcessor(tracing, log);
  const provider = new NodeTracerProvider({
    resource,
    sampler: samplerOf(tracing),
    spanLimits: { attributeValueLengthLimit: 256, attributeCountLimit: 32 },
    spanProcessors: [processor],
  });
  provider.register();
  setSpans(createSpans(provider.getTracer('frontage')));
  return {
    resource,
    processor,
    async close(): Promise<void> {
      setSpans(undefined);
      // A collector that does not respond must not keep the process from ending.
      const timer = setTimeout(processor.abort, shutdownMs);
      await provider.shutdown().catch(() => {});
      clearTimeout(timer);
      for (const one of [trace, context, propagation]) one.disable();
    },
  };
}

function createSpans(tracer: Tracer): Spans {
  const client = new OpenTelemetryWorkflowClientInterceptor({ tracer });
  return {
    start(name, { kind, parent, since, attributes = {} }) {
      const options = { kind: kinds[kind], attributes, ...(since ? { startTime: since } : {}) };
      return toStartedSpan(tracer.startSpan(name, options, contextOf(parent)));
    },
    withSpan: (name, act) =>
      tracer.startActiveSpan(name, async (span) => {
        const open = toStartedSpan(span);
        try {
          const result = await act((attributes) => void span.setAttributes(attributes));
          open.end();
          return result;
        } catch (error) {
          open.end({}, 'error');
          throw error;
        }
      }),
    withParent: (traceparent, act) => context.with(contextOf(traceparent), act),
    currentTraceparent() {
      const span = trace.getActiveSpan();
      return span && traceparentOf(span);
    },
    workflowClient: {
      start: client.start.bind(client),
      signal: client.signal.bind(client),
      signalWithStart: client.signalWithStart.bind(client),
    },
  };
}

function toStartedSpan(span: Span): StartedSpan {
  return {
    traceparent: traceparentOf(span),
    end(attributes: SpanAttributes = {}, outcome = 'ok') {
      span.setAttributes(attributes);
      if (outcome === 'error') span.setStatus({ code: SpanStatusCode.ERROR });
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
  const root = rootSampler(sampler, samplerArg);
  return sampler.startsWith('parentbased_') ? new ParentBasedSampler({ root }) : root;
}

function rootSampler(sampler: string, ratio: Parts['tracing']['samplerArg']): Sampler {
  if (sampler.endsWith('always_off')) return new AlwaysOffSampler();
  if (sampler.endsWith('always_on')) return new AlwaysOnSampler();
  return new TraceIdRatioBasedSampler(ratio);
}
