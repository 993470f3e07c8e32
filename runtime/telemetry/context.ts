/**
 * The context of a piece of work: the request that caused it, and in a worker the workflow and its activity. Every log line contains it,
 * and work that is enqueued inherits it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export type RequestContext = {
  /** Id of the request that caused the work. Absent for scheduled work. */
  reqId?: string | undefined;
  /** Position in a trace (W3C Trace Context), if traces are exported. */
  traceparent?: string | undefined;
  /** Id of the request that signalled the workflow last. */
  signalledBy?: string | undefined;
  workflowId?: string;
  /** Id of the workflow's deployment, mail or booking. */
  resource?: string;
  activity?: string;
  attempt?: number;
};

/** Stored with an outbox entry and sent to the workflow as headers. */
export type PropagatedContext = Pick<RequestContext, 'reqId' | 'traceparent'>;

const storage = new AsyncLocalStorage<RequestContext>();

/** Runs `act`, and all that it starts, in this context. */
export function runWithContext<Result>(context: RequestContext, act: () => Result): Result {
  return storage.run(context, act);
}

export const currentContext = (): RequestContext | undefined => storage.getStore();

/**
 * The context that a message to a workflow carries. A started workflow inherits the request. A workflow that another workflow signals
 * keeps its own request.
 */
export function propagatedContext(kind: 'start' | 'signal' | 'cancel'): PropagatedContext | undefined {
  const { reqId, traceparent, workflowId } = storage.getStore() ?? {};
  if (reqId === undefined || (kind !== 'start' && workflowId !== undefined)) return undefined;
  return { reqId, ...(traceparent === undefined ? {} : { traceparent }) };
}

const noFields = {};

/** Fields of the current context for a log line. */
export function contextFields(): object {
  const current = storage.getStore();
  if (!current) return noFields;
  const { traceparent, ...fields } = current;
  return traceparent === undefined ? fields : { ...fields, traceId: traceparent.slice(3, 35) };
}

/** Request ids from elsewhere: only characters that are safe in a log line, a header and a query. */
const wellFormed = /^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$/;

export const isRequestId = (text: unknown): text is string => typeof text === 'string' && wellFormed.test(text);
