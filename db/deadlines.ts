/**
 * Rows that end by themselves. A deadline is a column: every reader judges it by the clock, and a workflow only writes down what has run
 * out, and does what follows from that.
 */

/** What a row is at this moment, and for how long it stays so at most. `settled`: it changes no more. */
export type Settled = { settled: true; status: string } | { settled: false; status: string; leftMs: number };

/** A row that is gone has ended too. `endsAt` is when it is next to be looked at; undefined where it has ended. */
export function settledAt(now: Date, row: { status: string; endsAt: Date | undefined } | undefined): Settled {
  if (!row) return { settled: true, status: 'gone' };
  const { status, endsAt } = row;
  return endsAt ? { settled: false, status, leftMs: endsAt.getTime() - now.getTime() } : { settled: true, status };
}
