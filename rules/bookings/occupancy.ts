/** How many seats of a calendar are taken at each moment. Pure. */
import type { Span } from './opening-hours.ts';

export type Taken = Span & { seats: number };
/** Seats taken from each boundary to the next. */
export type Occupancy = { boundaries: number[]; levels: number[] };

export function occupancyOf(taken: readonly Taken[]): Occupancy {
  const changes = new Map<number, number>();
  for (const { from, until, seats } of taken) {
    changes.set(from, (changes.get(from) ?? 0) + seats);
    changes.set(until, (changes.get(until) ?? 0) - seats);
  }
  const boundaries = [...changes.keys()].sort((a, b) => a - b);
  let level = 0;
  const levels = boundaries.map((at) => {
    level += changes.get(at) ?? 0;
    return level;
  });
  return { boundaries, levels };
}

/** The maximum of seats taken at one moment of the span. */
export function peakOccupancy({ boundaries, levels }: Occupancy, { from, until }: Span): number {
  let at = lastIndexUpTo(boundaries, from);
  let peak = at < 0 ? 0 : (levels[at] as number);
  for (at += 1; at < boundaries.length && (boundaries[at] as number) < until; at++) {
    peak = Math.max(peak, levels[at] as number);
  }
  return peak;
}

/** Index of the last boundary at or before the moment; -1 where there is none. The boundaries are in order. */
export function lastIndexUpTo(boundaries: readonly number[], moment: number): number {
  let low = 0;
  let high = boundaries.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((boundaries[middle] as number) <= moment) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
