/** The ways in which an agent makes its calls. Each counts the calls, and the bytes that go in and come out. */
import type { Step } from './task.ts';

export type Cost = { calls: number; bytes: number };

export type Surface = {
  name: string;
  /** What the agent reads before its first task. */
  start(): Promise<Cost>;
  /**
   * Makes the calls of steps that need no look in between, and returns the cost. Results are put into `known` by their
   * names, and their text by the operation. Throws if a step is refused, unless it says so.
   */
  run(what: string, steps: readonly Step[], known: Map<string, unknown>): Promise<Cost>;
  close(): Promise<void>;
};

export const size = (...texts: string[]): number => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);

/** Throws if the outcome of the step is not the one that it names. */
export function requireOutcome(step: Step, code: string | undefined, text: string): void {
  if (code === step.refused) return;
  throw new Error(
    `${step.operation}: ${code ?? 'not refused'} instead of ${step.refused ?? 'done'}: ${text.slice(0, 1500)}`,
  );
}
