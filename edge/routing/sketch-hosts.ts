/**
 * Sketches by host, queried each time, so that a removed sketch disappears at once. Visitors can request any host: labels that arrive
 * during a query share the next one, and unknown labels are cached for some seconds.
 */
import { LRUCache } from 'lru-cache';
import type { EdgeDatabase, SketchRow } from './database.ts';

export type SketchHosts = {
  find(label: string): Promise<SketchRow | undefined>;
};

const batchMax = 500;
const unknownMax = 10_000;
const unknownMs = 10_000;

export function createSketchHosts(database: Pick<EdgeDatabase, 'sketchesAt'>): SketchHosts {
  // Labels are random, so an unknown one stays unknown.
  const unknown = new LRUCache<string, true>({ max: unknownMax, ttl: unknownMs });
  const waiting = new Map<string, PromiseWithResolvers<SketchRow | undefined>>();
  let asking = false;

  async function runQueries(): Promise<void> {
    if (asking) return;
    asking = true;
    while (waiting.size > 0) {
      const asked = [...waiting].slice(0, batchMax);
      for (const [label] of asked) waiting.delete(label);
      try {
        const found = await database.sketchesAt(asked.map(([label]) => label));
        for (const [label, { resolve }] of asked) {
          if (!found.has(label)) unknown.set(label, true);
          resolve(found.get(label));
        }
      } catch (error) {
        for (const [, { reject }] of asked) reject(error);
      }
    }
    asking = false;
  }

  return {
    async find(label) {
      if (unknown.has(label)) return undefined;
      const answer = waiting.get(label) ?? Promise.withResolvers<SketchRow | undefined>();
      waiting.set(label, answer);
      void runQueries();
      return await answer.promise;
    },
  };
}
