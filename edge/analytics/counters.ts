/** Counts of each hour in memory, with bounded numbers of sites and keys. */
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

/** Counts of one site in one hour. */
export type SiteCounter = {
  siteId: string;
  hour: Date;
  views: number;
  sketch: Sketch;
  counts: Tallied;
  /** Whether it has unsaved counts. */
  isNew: boolean;
};

/** A row: all counts of this process for the site and hour. */
export type ViewRow = { site_id: string; hour: Date; views: number; sketch: string } & Record<Dimension, Counts>;

export type Limits = {
  /** Sites and hours together. A sketch takes 4 KiB. */
  counters: number;
  /** Distinct keys of all counters. */
  keys: number;
};
const counterLimits: Limits = { counters: 10_000, keys: 250_000 };

export type Counters = {
  /** The site's counter of the current hour; `undefined` if there is no room. */
  of(siteId: string): SiteCounter | undefined;
  /** Counts one view under a key of the dimension, or under `other` where there are too many. */
  add(counter: SiteCounter, dimension: Dimension, key: string): void;
  /** Starts an hour. Counters of earlier hours stay until they are saved. */
  begin(hour: Date): void;
  unsaved(): SiteCounter[];
  /** Drops saved counters of earlier hours, and all that are older than this. */
  forget(before: Date): void;
};

export function createCounters(limits: Limits = counterLimits): Counters {
  let hour = new Date(0);
  let present = new Map<string, SiteCounter>();
  let earlier: SiteCounter[] = [];
  let keys = 0;

  const keysOf = ({ counts }: SiteCounter) =>
    dimensions.reduce((sum, dimension) => sum + counts[dimension].size - (counts[dimension].has(other) ? 1 : 0), 0);

  function drop(kept: (counter: SiteCounter) => boolean): void {
    for (const counter of earlier) if (!kept(counter)) keys -= keysOf(counter);
    earlier = earlier.filter(kept);
  }

  /** Makes room by dropping unsaved counters of the oldest hour. */
  function hasRoom(): boolean {
    if (present.size + earlier.length < limits.counters) return true;
    const oldest = earlier[0]?.hour;
    if (!oldest) return false;
    drop((counter) => counter.hour > oldest);
    return true;
  }

  return {
    of(siteId) {
      const known = present.get(siteId);
      if (known || !hasRoom()) return known;
      const counter: SiteCounter = { siteId, hour, views: 0, sketch: newSketch(), counts: newTallied(), isNew: false };
      present.set(siteId, counter);
      return counter;
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
      earlier.push(...present.values());
      // After the clock was set back, the hour's counters continue: a second row would replace the first.
      const isOf = (counter: SiteCounter) => counter.hour.getTime() === next.getTime();
      present = new Map(earlier.filter(isOf).map((counter) => [counter.siteId, counter]));
      earlier = earlier.filter((counter) => !isOf(counter));
      hour = next;
    },
    unsaved: () => [...earlier, ...present.values()].filter(({ isNew }) => isNew),
    forget(before) {
      drop((counter) => counter.isNew && counter.hour >= before);
    },
  };
}

export function viewRow({ siteId, hour, views, sketch, counts }: SiteCounter): ViewRow {
  return { site_id: siteId, hour, views, sketch: writeSketch(sketch).toString('base64'), ...rowOf(counts) };
}
