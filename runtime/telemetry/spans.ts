/** What a process tells of its work as spans of traces. Nothing, until there is somebody to be told: `tracing.ts`, loaded where the configuration names a receiver. */
import type { WorkflowClientInterceptor } from '@temporalio/client';

export type SpanAttributes = Record<string, string | number | undefined>;

export type OpenSpan = {
  /** Its place, for what is done within it (W3C Trace Context). */
  traceparent: string;
  end(attributes?: SpanAttributes, how?: 'ok' | 'fault'): void;
};

export type Spans = {
  /** `since` is when it began, where that is not now. */
  begin(
    name: string,
    options: { kind: 'server' | 'producer'; parent: string | undefined; since?: Date; attributes?: SpanAttributes },
  ): OpenSpan;
  /** Does it as a part of what is under way; `note` adds attributes. Ends with what `act` comes to. */
  during<Result>(name: string, act: (note: (attributes: SpanAttributes) => void) => Promise<Result>): Promise<Result>;
  /** Does it within that place of a trace. */
  inside<Result>(traceparent: string, act: () => Result): Result;
  present(): string | undefined;
  /** Around starts and signals of workflows. */
  client: Required<Pick<WorkflowClientInterceptor, 'start' | 'signal'>>;
};

let spans: Spans | undefined;

export function traceWith(some: Spans | undefined): void {
  spans = some;
}

/** Undefined where no traces are told. */
export const tracing = (): Spans | undefined => spans;

const noNote = () => {};

export function during<Result>(
  name: string,
  act: (note: (attributes: SpanAttributes) => void) => Promise<Result>,
): Promise<Result> {
  return spans ? spans.during(name, act) : act(noNote);
}

/** `traceparent` as W3C Trace Context has it, of version 00, and nothing else. */
export function isTraceparent(text: unknown): text is string {
  return typeof text === 'string' && /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/.test(text);
}
