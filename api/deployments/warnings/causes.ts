/** One warning for each cause: its kind and, if it has one, its target. Pure. */
import type { Warning } from '#db/deployments/deployment.ts';

export const itemsMax = 100;
const placesMax = 5;

/** A warning about one place, as older rows have it, or about several. */
export type FoundWarning = Omit<Warning, 'count' | 'places'> & Partial<Pick<Warning, 'count' | 'places'>>;

/** Adds a warning to those of the same cause, or as a further one while there is room. */
export function addWarning(items: Warning[], { count = 1, places, ...one }: FoundWarning): void {
  const same = items.find(({ kind, target }) => kind === one.kind && target === one.target);
  const paths = new Set([...(same?.places ?? []), ...(places ?? [one.path])]);
  const all = [...paths].slice(0, placesMax);
  if (same) Object.assign(same, { count: same.count + count, places: all });
  else if (items.length < itemsMax) items.push({ ...one, count, places: all });
}
