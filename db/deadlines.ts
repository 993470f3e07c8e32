/**
 * Rows with a deadline. Readers compare the column with the clock; a workflow only records the expiry and its
 * consequences.
 */

/** The current status of a row, and the time until it changes at the latest. `settled`: it does not change any more. */
export type Settled = { settled: true; status: string } | { settled: false; status: string; leftMs: number };

/** A deleted row is settled too. `endsAt` is when to read it again; undefined where it is settled. */
export function settledAt(now: Date, row: { status: string; endsAt: Date | undefined } | undefined): Settled {
  if (!row) return { settled: true, status: 'gone' };
  const { status, endsAt } = row;
  return endsAt ? { settled: false, status, leftMs: endsAt.getTime() - now.getTime() } : { settled: true, status };
}
