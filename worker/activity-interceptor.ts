/** Runs each activity in the context of the request that started its workflow, and logs and counts its outcome. */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptors, WorkerInterceptors } from '@temporalio/worker';
import { contextHeaders } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { contextFields, isRequestId, type RequestContext, runWithContext } from '#runtime/telemetry/context.ts';
import { countActivity } from '#runtime/telemetry/metrics.ts';
import { tracing } from '#runtime/telemetry/spans.ts';

export type ActivityInterceptorFactory = (context: Context) => ActivityInterceptors;

/** Interceptors of a worker, besides those in its workflow bundle. */
export function activityInterceptors(
  { log }: Pick<Deps, 'log'>,
  tracing?: { activity: ActivityInterceptorFactory },
): WorkerInterceptors {
  const own: ActivityInterceptorFactory = (context) => aroundActivity(context, log);
  return { activity: tracing ? [tracing.activity, own] : [own] };
}

function aroundActivity({ info }: Context, log: Deps['log']): ActivityInterceptors {
  let context: RequestContext = {};
  return {
    inbound: {
      async execute(input, next) {
        context = { ...contextOf(info, input.headers), traceparent: tracing()?.currentTraceparent() };
        return await runWithContext(context, async () => {
          const began = performance.now();
          const took = () => performance.now() - began;
          try {
            const result = await next(input);
            countActivity(info.activityType, 'done', took() / 1000);
            const line = { ms: Math.round(took()) };
            // Schedules run each minute.
            if (context.workflowId?.startsWith('schedule:')) log.debug(line, 'activity completed');
            else log.info(line, 'activity completed');
            return result;
          } catch (error) {
            if (!isBenign(error)) countActivity(info.activityType, 'failed', took() / 1000);
            throw error;
          }
        });
      },
    },
    // For lines that the SDK logs, such as failed activities.
    outbound: { getLogAttributes: (input, next) => ({ ...next(input), ...runWithContext(context, contextFields) }) },
  };
}

/** The SDK neither logs nor counts such a failure. */
const isBenign = (error: unknown) => error instanceof ApplicationFailure && error.category === 'BENIGN';

function contextOf({ workflowExecution, activityType, attempt }: Context['info'], headers: Headers): RequestContext {
  const { workflowId } = workflowExecution ?? { workflowId: '' };
  const reqId = idIn(headers, contextHeaders.request);
  const signalledBy = idIn(headers, contextHeaders.signal);
  return {
    ...(reqId ? { reqId } : {}),
    ...(signalledBy && signalledBy !== reqId ? { signalledBy } : {}),
    workflowId,
    resource: workflowId.slice(workflowId.indexOf(':') + 1),
    activity: activityType,
    attempt,
  };
}

function idIn(headers: Headers, name: string): string | undefined {
  const payload = headers[name];
  const value = payload && defaultPayloadConverter.fromPayload(payload);
  return isRequestId(value) ? value : undefined;
}
