/**
 * What sketches' hosts show, asked of the database each time, so that what is taken down is gone at once. Hosts are a visitor's to make up: all
 * that are asked for while a question is under way are one question, and one that is nobody's is not asked for again for some seconds.
 */
import { LRUCache } from 'lru-cache';
import type { EdgeDatabase, SketchRow } from './database.ts';

export type SketchHosts = {
  at(label: string): Promise<SketchRow | undefined>;
};

const atOnce = 500;
const unknownMax = 10_000;
const unknownMs = 10_000;

export function openSketchHosts(database: Pick<EdgeDatabase, 'sketchesAt'>): SketchHosts {
  // Labels are random, so that one that is nobody's now is nobody's in a while.
  const unknown = new LRUCache<string, true>({ max: unknownMax, ttl: unknownMs });
  const waiting = new Map<string, PromiseWithResolvers<SketchRow | undefined>>();
  let asking = false;

  async function ask(): Promise<void> {
    if (asking) return;
    asking = true;
    while (waiting.size > 0) {
      const asked = [...waiting].slice(0, atOnce);
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
    async at(label) {
      if (unknown.has(label)) return undefined;
      const answer = waiting.get(label) ?? Promise.withResolvers<SketchRow | undefined>();
      waiting.set(label, answer);
      void ask();
      return await answer.promise;
    },
  };
}
