import type { Settings } from '#runtime/settings.ts';

export function operationConfig(e: Settings) {
  return {
    rateScale: e.FRONTAGE_RATE_SCALE,
    ending: { drainMs: e.FRONTAGE_DRAIN_SECONDS * 1000, graceMs: e.FRONTAGE_GRACE_SECONDS * 1000 },
    /** Absent if metrics are not served. */
    metrics:
      e.FRONTAGE_METRICS_PORT === undefined
        ? undefined
        : {
            host: e.FRONTAGE_METRICS_HOST,
            port: e.FRONTAGE_METRICS_PORT,
            temporalPort: e.FRONTAGE_METRICS_TEMPORAL_PORT,
          },
    /** Absent if tracing is off. */
    tracing: tracingConfig(e),
  };
}

/** OpenTelemetry's rule: a path is appended to the general endpoint, but not to the endpoint of traces. */
function tracingConfig(e: Settings) {
  const endpoint = e.OTEL_EXPORTER_OTLP_ENDPOINT;
  const all = endpoint && new URL(`${endpoint.pathname.replace(/\/$/, '')}/v1/traces`, endpoint);
  const receiver = e.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT || all;
  if (!receiver || e.OTEL_SDK_DISABLED === 'true') return undefined;
  return {
    url: receiver.href,
    headers: e.OTEL_EXPORTER_OTLP_HEADERS,
    timeoutMs: e.OTEL_EXPORTER_OTLP_TIMEOUT,
    delayMs: e.OTEL_BSP_SCHEDULE_DELAY,
    serviceName: e.OTEL_SERVICE_NAME,
    resource: e.OTEL_RESOURCE_ATTRIBUTES,
    sampler: e.OTEL_TRACES_SAMPLER,
    samplerArg: e.OTEL_TRACES_SAMPLER_ARG,
  };
}
