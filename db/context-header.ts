/** For what a workflow is started or signalled goes to it in a header. */
import type { WorkflowClientInterceptor } from '@temporalio/client';
import { defaultPayloadConverter, type Headers } from '@temporalio/common';
import { causeHeaders } from '#rules/workflow-ids.ts';
import { presentCause } from '#runtime/telemetry/context.ts';
import { tracing } from '#runtime/telemetry/spans.ts';

export const sayCause: WorkflowClientInterceptor = {
  start(given, next) {
    const input = { ...given, headers: withCause(given.headers) };
    return tracer()?.start(input, next) ?? next(input);
  },
  signal(given, next) {
    const input = { ...given, headers: withCause(given.headers) };
    return tracer()?.signal(input, next) ?? next(input);
  },
};

/** Of what is part of no trace none is begun. */
const tracer = () => (presentCause()?.traceparent === undefined ? undefined : tracing()?.client);

function withCause(headers: Headers): Headers {
  const reqId = presentCause()?.reqId;
  return reqId === undefined
    ? headers
    : { ...headers, [causeHeaders.request]: defaultPayloadConverter.toPayload(reqId) };
}
