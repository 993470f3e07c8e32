/** What a process counts of itself. Nothing, until somebody is there to be told: `prometheus.ts`, loaded where the configuration names a port. */

export type Counters = {
  /** A row that was found without what should work on it was mended in this way. */
  repair(way: string): void;
  /** A call was answered: of this operation, with `2xx` to `5xx`, in so many seconds. */
  request(operation: string, status: string, seconds: number): void;
};

let counters: Counters | undefined;

export function countWith(some: Counters): void {
  counters = some;
}

export const countRepair: Counters['repair'] = (way) => counters?.repair(way);
export const countRequest: Counters['request'] = (...call) => counters?.request(...call);
