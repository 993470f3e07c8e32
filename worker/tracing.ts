/** Spans of workflows and activities, by Temporal's own package. Loaded only if traces are exported. */
import { createRequire } from 'node:module';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import { startTracing } from '#runtime/telemetry/tracing.ts';
import type { ActivityInterceptorFactory } from './activity-interceptor.ts';

/** Bundled with the workflows. It creates no spans while a history is replayed. */
export const workflowModules = [
  createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors'),
];

export function startWorkerTracing(parts: Parameters<typeof startTracing>[0]) {
  const { resource, processor, close } = startTracing(parts);
  const activity: ActivityInterceptorFactory = (context) => ({
    inbound: new OpenTelemetryActivityInboundInterceptor(context),
  });
  return { workflowModules, activity, sinks: { exporter: makeWorkflowExporter(processor, resource) }, close };
}
