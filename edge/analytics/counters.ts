/** What was counted in each hour, in memory: so many sites, so many different keys, whatever visitors send. */
import {
  type Counts,
  type Dimension,
  dimensions,
  keysMax,
  newTallied,
  other,
  rowOf,
  type Tallied,
} from '#db/analytics/counts.ts';
import { newSketch, type Sketch, writeSketch } from '#db/analytics/hyperloglog.ts';

/** Of one site in one hour. */
export type Tally = {
  siteId: string;
  hour: Date;
  views: number;
  sketch: Sketch;
  counts: Tallied;
  /** Whether it holds what was not written yet. */
  isNew: boolean;
};

/** A row as it is written: all that this process has counted of the site in that hour. */
export type ViewRow = { site_id: string; hour: Date; views: number; sketch: string } & Record<Dimension, Counts>;

export type Limits = {
  /** Sites and hours together. A sketch takes 4 KiB. */
  tallies: number;
  /** Different keys of all tallies. */
  keys: number;
};
export const tallyLimits: Limits = { tallies: 10_000, keys: 250_000 };

export type Tallies = {
  /** The site's tally of the present hour; `undefined` where there is no room for one more. */
  of(siteId: string): Tally | undefined;
  /** Counts one view under a key of the dimension, or under `other` where there are too many. */
  add(tally: Tally, dimension: Dimension, key: string): void;
  /** Begins an hour. Tallies of earlier ones are kept until they are written. */
  begin(hour: Date): void;
  unwritten(): Tally[];
  /** Forgets tallies of earlier hours that hold nothing new, and those that are older than this. */
  forget(before: Date): void;
};

export function openTallies(limits: Limits = tallyLimits): Tallies {
  let hour = new Date(0);
  let present = new Map<string, Tally>();
  let past: Tally[] = [];
  let keys = 0;

  const keysOf = ({ counts }: Tally) =>
    dimensions.reduce((sum, dimension) => sum + counts[dimension].size - (counts[dimension].has(other) ? 1 : 0), 0);

  function drop(kept: (tally: Tally) => boolean): void {
    for (const tally of past) if (!kept(tally)) keys -= keysOf(tally);
    past = past.filter(kept);
  }

  /** Makes room by what is oldest: what was counted an hour ago and could not be written is the first to go. */
  function hasRoom(): boolean {
    if (present.size + past.length < limits.tallies) return true;
    const oldest = past[0]?.hour;
    if (!oldest) return false;
    drop((tally) => tally.hour > oldest);
    return true;
  }

  return {
    of(siteId) {
      const known = present.get(siteId);
      if (known || !hasRoom()) return known;
      const tally: Tally = { siteId, hour, views: 0, sketch: newSketch(), counts: newTallied(), isNew: false };
      present.set(siteId, tally);
      return tally;
    },
    add({ counts }, dimension, key) {
      const known = counts[dimension];
      const views = known.get(key);
      if (views !== undefined) known.set(key, views + 1);
      else if (known.size < keysMax[dimension] && keys < limits.keys) {
        known.set(key, 1);
        keys += 1;
      } else known.set(other, (known.get(other) ?? 0) + 1);
    },
    begin(next) {
      past.push(...present.values());
      // A clock that was put back goes on with what it counted in that hour: a second row of it would replace the first.
      const isOf = (tally: Tally) => tally.hour.getTime() === next.getTime();
      present = new Map(past.filter(isOf).map((tally) => [tally.siteId, tally]));
      past = past.filter((tally) => !isOf(tally));
      hour = next;
    },
    unwritten: () => [...past, ...present.values()].filter(({ isNew }) => isNew),
    forget(before) {
      drop((tally) => tally.isNew && tally.hour >= before);
    },
  };
}

export function viewRow({ siteId, hour, views, sketch, counts }: Tally): ViewRow {
  return { site_id: siteId, hour, views, sketch: writeSketch(sketch).toString('base64'), ...rowOf(counts) };
}
