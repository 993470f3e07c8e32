/** Spans of traces. They do nothing until `tracing.ts` is loaded, which the configuration of a collector does. */
import type { WorkflowClientInterceptor } from '@temporalio/client';

export type SpanAttributes = Record<string, string | number | undefined>;

export type StartedSpan = {
  /** Position in the trace, for child spans (W3C Trace Context). */
  traceparent: string;
  end(attributes?: SpanAttributes, outcome?: 'ok' | 'error'): void;
};

export type Spans = {
  /** `since` is the start, if it is in the past. */
  start(
    name: string,
    options: { kind: 'server' | 'producer'; parent: string | undefined; since?: Date; attributes?: SpanAttributes },
  ): StartedSpan;
  /** Runs `act` in a child span; `note` adds attributes. */
  withSpan<Result>(name: string, act: (note: (attributes: SpanAttributes) => void) => Promise<Result>): Promise<Result>;
  /** Runs `act` with this parent. */
  withParent<Result>(traceparent: string, act: () => Result): Result;
  currentTraceparent(): string | undefined;
  /** Intercepts starts and signals of workflows. */
  workflowClient: Required<Pick<WorkflowClientInterceptor, 'start' | 'signal' | 'signalWithStart'>>;
};

let spans: Spans | undefined;

export function setSpans(some: Spans | undefined): void {
  spans = some;
}

/** Undefined if no traces are exported. */
export const tracing = (): Spans | undefined => spans;

const ignoreAttributes = () => {};

export function withSpan<Result>(
  name: string,
  act: (note: (attributes: SpanAttributes) => void) => Promise<Result>,
): Promise<Result> {
  return spans ? spans.withSpan(name, act) : act(ignoreAttributes);
}

/** Whether the text is a valid `traceparent` of version 00 (W3C Trace Context). */
export function isTraceparent(text: unknown): text is string {
  return typeof text === 'string' && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}
