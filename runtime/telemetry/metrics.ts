/** What a process counts of itself. Nothing, until somebody is there to be told: `prometheus.ts`, loaded where the configuration names a port. */

export type Counters = {
  /** A row that was found without what should work on it was mended in this way. */
  repair(way: string): void;
  /** A call was answered: of this operation, with `2xx` to `5xx`, in so many seconds. */
  request(operation: string, status: string, seconds: number): void;
  /** A step of a workflow ended. */
  step(step: string, outcome: 'done' | 'failed', seconds: number): void;
  /** A build ended: `built`, or a code of the catalog. */
  build(outcome: string): void;
  /** A try to send a mail ended. */
  mail(outcome: 'sent' | 'waits' | 'given_up'): void;
  /** Spans were taken by the receiver of traces, or are lost. */
  spans(outcome: 'told' | 'lost', count: number): void;
};

let counters: Counters | undefined;

export function countWith(some: Counters): void {
  counters = some;
}

export const countRepair: Counters['repair'] = (way) => counters?.repair(way);
export const countRequest: Counters['request'] = (...call) => counters?.request(...call);
export const countStep: Counters['step'] = (...step) => counters?.step(...step);
export const countBuild: Counters['build'] = (outcome) => counters?.build(outcome);
export const countMail: Counters['mail'] = (outcome) => counters?.mail(outcome);
export const countSpans: Counters['spans'] = (...spans) => counters?.spans(...spans);

/** Clones, fetches and pushes of this process: at work, and in the queue. */
export const gitPlaces = { running: 0, waiting: 0 };
