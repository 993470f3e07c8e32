/** Counters of a process. They do nothing until `prometheus.ts` is loaded, which the configuration of a port does. */

export type Counters = {
  /** A reconciler repaired a row in this way. */
  repair(kind: string): void;
  /** A request ended: its operation, status class (`2xx` to `5xx`) and duration. */
  request(operation: string, status: string, seconds: number): void;
  /** An activity ended. */
  activity(type: string, outcome: 'done' | 'failed', seconds: number): void;
  /** A build ended: `built`, or an error code. */
  build(outcome: string): void;
  /** An attempt to send a mail ended; `repeated` is also counted when one begins that may deliver a second copy. */
  mail(outcome: 'sent' | 'waits' | 'given_up' | 'repeated'): void;
  /** Spans were exported to the collector, or dropped. */
  spans(outcome: 'exported' | 'dropped', count: number): void;
};

let counters: Counters | undefined;

export function setCounters(some: Counters): void {
  counters = some;
}

export const countRepair: Counters['repair'] = (kind) => counters?.repair(kind);
export const countRequest: Counters['request'] = (...call) => counters?.request(...call);
export const countActivity: Counters['activity'] = (...activity) => counters?.activity(...activity);
export const countBuild: Counters['build'] = (outcome) => counters?.build(outcome);
export const countMail: Counters['mail'] = (outcome) => counters?.mail(outcome);
export const countSpans: Counters['spans'] = (...spans) => counters?.spans(...spans);

/** Clones, fetches and pushes of this process: running and queued. */
export const gitOperations = { running: 0, waiting: 0 };
