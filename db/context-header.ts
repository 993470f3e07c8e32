/** Sends the request context to workflows in a header. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { contextHeaders } from '#rules/workflow-ids.ts';
import { currentContext } from '#runtime/telemetry/context.ts';
import { tracing } from '#runtime/telemetry/spans.ts';

export const contextHeaderInterceptor: WorkflowClientInterceptor = {
  start(given, next) {
    const input = { ...given, headers: withContext(given.headers) };
    return tracer()?.start(input, next) ?? next(input);
  },
  signalWithStart(given, next) {
    const input = { ...given, headers: withContext(given.headers) };
    return tracer()?.signalWithStart(input, next) ?? next(input);
  },
  signal(given, next) {
    const input = { ...given, headers: withContext(given.headers) };
    return tracer()?.signal(input, next) ?? next(input);
  },
};

/** A trace is continued, never started here. */
const tracer = () => (currentContext()?.traceparent === undefined ? undefined : tracing()?.workflowClient);

function withContext(headers: Headers): Headers {
  const reqId = currentContext()?.reqId;
  return reqId === undefined
    ? headers
    : { ...headers, [contextHeaders.request]: defaultPayloadConverter.toPayload(reqId) };
}
