/** Passes the context headers of a workflow on to its activities, and to the run that it continues as. */
import type { Headers, WorkflowInterceptors } from '@temporalio/workflow';
import { contextHeaders } from '#rules/workflow-ids.ts';

export function interceptors(): WorkflowInterceptors {
  const carried: Headers = {};
  const keep = (name: string, payload: Headers[string] | undefined) => {
    if (payload) carried[name] = payload;
  };
  return {
    inbound: [
      {
        async execute(input, next) {
          for (const name of Object.values(contextHeaders)) keep(name, input.headers[name]);
          return await next(input);
        },
        async handleSignal(input, next) {
          keep(contextHeaders.signal, input.headers[contextHeaders.request]);
          return await next(input);
        },
      },
    ],
    outbound: [
      {
        scheduleActivity: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
        continueAsNew: (input, next) => next({ ...input, headers: { ...input.headers, ...carried } }),
      },
    ],
  };
}
