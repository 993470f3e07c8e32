/**
 * What a piece of work is done for, carried along with it: the request that asked, and in a worker the workflow and its step. Each line
 * of the log says it, and what the work enqueues goes on under it.
 */
import { AsyncLocalStorage } from 'node:async_hooks';

export type Cause = {
  /** Of the request that asked for the work. Absent where nobody asked: a schedule's. */
  reqId?: string | undefined;
  /** Its place in a trace (W3C Trace Context), where traces are told. */
  traceparent?: string | undefined;
  /** Of the request that was the last to signal the workflow. */
  signalledBy?: string | undefined;
  workflowId?: string;
  /** What the workflow is about: the deployment, the mail, the booking. */
  resource?: string;
  step?: string;
  attempt?: number;
};

/** What is kept with an entry of the outbox, and goes to the workflow as headers. */
export type CarriedCause = Pick<Cause, 'reqId' | 'traceparent'>;

const causes = new AsyncLocalStorage<Cause>();

/** Runs what is done for this, and all that it begins. */
export function doFor<Result>(cause: Cause, act: () => Result): Result {
  return causes.run(cause, act);
}

export const presentCause = (): Cause | undefined => causes.getStore();

/**
 * What a message to a workflow carries. A workflow that is started goes on for the same request; one that is signalled from within
 * another has a request of its own, and the other's is no business of it.
 */
export function carriedCause(kind: 'start' | 'signal' | 'cancel'): CarriedCause | undefined {
  const { reqId, traceparent, workflowId } = causes.getStore() ?? {};
  if (reqId === undefined || (kind !== 'start' && workflowId !== undefined)) return undefined;
  return { reqId, ...(traceparent === undefined ? {} : { traceparent }) };
}

const nothing = {};

/** The fields of each line of the log. */
export function causeFields(): object {
  const cause = causes.getStore();
  if (!cause) return nothing;
  const { traceparent, ...fields } = cause;
  return traceparent === undefined ? fields : { ...fields, traceId: traceparent.slice(3, 35) };
}

/** What an id of a request may be that we did not make: nothing that a line, a header or a query would read as more than an id. */
const wellFormed = /^[A-Za-z0-9][A-Za-z0-9_-]{7,63}$/;

export const isRequestId = (text: unknown): text is string => typeof text === 'string' && wellFormed.test(text);
