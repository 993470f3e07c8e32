/** Operation and traces. */
import { z } from 'zod';
import { optionalPort, pairs, samplers, url } from './types.ts';

export const operation = {
  FRONTAGE_RATE_SCALE: z.coerce
    .number()
    .positive()
    .default(1)
    .describe(
      'Multiplies the rate limits, which are listed under `perMinute` in `api/plugins/rate-limit.ts`. At 1, a token can make 600 calls a minute, and send manifests with 12,000 files a minute. `npm start` sets 1000.',
    ),
  FRONTAGE_DRAIN_SECONDS: z.coerce
    .number()
    .int()
    .min(0)
    .max(300)
    .default(0)
    .describe(
      'How long a terminating process reports "not ready" but still accepts requests, in seconds. Set it longer than your load balancer’s health-check interval. See [several of each](containers.md#several-processes-of-each-kind).',
    ),
  FRONTAGE_GRACE_SECONDS: z.coerce
    .number()
    .int()
    .min(1)
    .max(3600)
    .default(10)
    .describe('How long requests may continue after the drain period, in seconds.'),
  FRONTAGE_METRICS_PORT: optionalPort.describe(
    'Port for Prometheus metrics and the health of the process. Empty: neither is served. Keep the port private: it has no authentication. See [metrics](operations.md#metrics).',
  ),
  FRONTAGE_METRICS_HOST: z.string().default('127.0.0.1').describe('Address on which metrics are served.'),
  FRONTAGE_METRICS_TEMPORAL_PORT: optionalPort.describe(
    'Port on which a worker serves the metrics of the Temporal SDK.',
  ),
};

export const tracing = {
  OTEL_EXPORTER_OTLP_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe(
      'OTLP endpoint for traces; `/v1/traces` is appended. Empty: tracing is off and its code is not loaded. See [traces](operations.md#traces).',
    ),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe(
      'OTLP endpoint for traces. It takes precedence over `OTEL_EXPORTER_OTLP_ENDPOINT`, and nothing is appended.',
    ),
  OTEL_EXPORTER_OTLP_PROTOCOL: z
    .literal('http/json')
    .default('http/json')
    .describe('OTLP protocol. Only `http/json` is supported.'),
  OTEL_EXPORTER_OTLP_HEADERS: pairs.describe('Headers sent to the OTLP endpoint, as `name=value,…`, percent-encoded.'),
  OTEL_EXPORTER_OTLP_TIMEOUT: z.coerce
    .number()
    .int()
    .min(100)
    .max(60_000)
    .default(10_000)
    .describe('Timeout for one export of spans, in milliseconds.'),
  OTEL_BSP_SCHEDULE_DELAY: z.coerce
    .number()
    .int()
    .min(10)
    .max(60_000)
    .default(5_000)
    .describe('Interval between exports of spans, in milliseconds.'),
  OTEL_TRACES_SAMPLER: z.enum(samplers).default('parentbased_always_on').describe('OpenTelemetry trace sampler.'),
  OTEL_TRACES_SAMPLER_ARG: z.coerce
    .number()
    .min(0)
    .max(1)
    .default(1)
    .describe('Argument of the trace sampler, from 0 to 1.'),
  OTEL_SERVICE_NAME: z.string().default('').describe('Service name in traces.'),
  OTEL_RESOURCE_ATTRIBUTES: pairs.describe('Additional resource attributes of traces, as `name=value,…`.'),
  OTEL_SDK_DISABLED: z.enum(['true', 'false']).default('false').describe('`true` disables tracing.'),
};
