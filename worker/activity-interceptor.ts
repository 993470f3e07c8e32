/** Around each step: it runs for the request that its workflow was started for, and a line says how it ended. */
import type { Context } from '@temporalio/activity';
import { ApplicationFailure, defaultPayloadConverter, type Headers } from '@temporalio/common';
import type { ActivityInterceptors, WorkerInterceptors } from '@temporalio/worker';
import { causeHeaders } from '#rules/workflow-ids.ts';
import type { Deps } from '#runtime/deps.ts';
import { type Cause, causeFields, doFor, isRequestId } from '#runtime/telemetry/context.ts';
import { countStep } from '#runtime/telemetry/metrics.ts';
import { tracing } from '#runtime/telemetry/spans.ts';

export type StepInterceptors = (context: Context) => ActivityInterceptors;

/** What a worker is given, beside the interceptors that its bundle has. */
export function stepInterceptors({ log }: Pick<Deps, 'log'>, tracing?: { step: StepInterceptors }): WorkerInterceptors {
  const own: StepInterceptors = (context) => aroundStep(context, log);
  return { activity: tracing ? [tracing.step, own] : [own] };
}

function aroundStep({ info }: Context, log: Deps['log']): ActivityInterceptors {
  let cause: Cause = {};
  return {
    inbound: {
      async execute(input, next) {
        cause = { ...causeOf(info, input.headers), traceparent: tracing()?.present() };
        return await doFor(cause, async () => {
          const began = performance.now();
          const took = () => performance.now() - began;
          try {
            const result = await next(input);
            countStep(info.activityType, 'done', took() / 1000);
            const line = { ms: Math.round(took()) };
            // What is done each minute says something where there is something to say.
            if (cause.workflowId?.startsWith('schedule:')) log.debug(line, 'step done');
            else log.info(line, 'step done');
            return result;
          } catch (error) {
            if (!waitsOnPurpose(error)) countStep(info.activityType, 'failed', took() / 1000);
            throw error;
          }
        });
      },
    },
    // Of the lines that the SDK writes, of steps that fail among them.
    outbound: { getLogAttributes: (input, next) => ({ ...next(input), ...doFor(cause, causeFields) }) },
  };
}

/** The SDK neither tells of such a failure nor counts it. */
const waitsOnPurpose = (error: unknown) => error instanceof ApplicationFailure && error.category === 'BENIGN';

function causeOf({ workflowExecution, activityType, attempt }: Context['info'], headers: Headers): Cause {
  const { workflowId } = workflowExecution ?? { workflowId: '' };
  const reqId = idIn(headers, causeHeaders.request);
  const signalledBy = idIn(headers, causeHeaders.signal);
  return {
    ...(reqId ? { reqId } : {}),
    ...(signalledBy && signalledBy !== reqId ? { signalledBy } : {}),
    workflowId,
    resource: workflowId.slice(workflowId.indexOf(':') + 1),
    step: activityType,
    attempt,
  };
}

function idIn(headers: Headers, name: string): string | undefined {
  const payload = headers[name];
  const value = payload && defaultPayloadConverter.fromPayload(payload);
  return isRequestId(value) ? value : undefined;
}
