/**
 * Sketches by host, queried each time, so that a removed sketch disappears at once. Visitors can request any host:
 * unknown labels are cached for some seconds.
 */
import { LRUCache } from 'lru-cache';
import { createBatchedLookup } from '#edge/batched-lookup.ts';
import type { EdgeDatabase, SketchRow } from './database.ts';

export type SketchHosts = {
  find(label: string): Promise<SketchRow | undefined>;
};

const unknownMax = 10_000;
const unknownMs = 10_000;

export function createSketchHosts(database: Pick<EdgeDatabase, 'sketchesAt'>): SketchHosts {
  // Labels are random, so an unknown one stays unknown.
  const unknown = new LRUCache<string, true>({ max: unknownMax, ttl: unknownMs });
  const lookUp = createBatchedLookup((labels) => database.sketchesAt(labels));
  return {
    async find(label) {
      if (unknown.has(label)) return undefined;
      const found = await lookUp(label);
      if (!found) unknown.set(label, true);
      return found;
    },
  };
}
