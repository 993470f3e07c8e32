/** Loaded where traces are told: spans of workflows and their steps, by the engine's own package. */
import { createRequire } from 'node:module';
import {
  makeWorkflowExporter,
  OpenTelemetryActivityInboundInterceptor,
} from '@temporalio/interceptors-opentelemetry/lib/worker/index.js';
import { startTracing } from '#runtime/telemetry/tracing.ts';
import type { StepInterceptors } from './activity-interceptor.ts';

/** Bundled with the workflows: it spans them, and what they begin. Nothing of it is told while a history is replayed. */
export const workflowModules = [
  createRequire(import.meta.url).resolve('@temporalio/interceptors-opentelemetry/lib/workflow-interceptors'),
];

export function traceWork(parts: Parameters<typeof startTracing>[0]) {
  const { resource, processor, close } = startTracing(parts);
  const step: StepInterceptors = (context) => ({ inbound: new OpenTelemetryActivityInboundInterceptor(context) });
  return { workflowModules, step, sinks: { exporter: makeWorkflowExporter(processor, resource) }, close };
}
