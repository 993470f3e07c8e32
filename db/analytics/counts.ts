/** Views by page, referrer, country and device: maps with a limited number of keys, and `other` for the rest. Pure. */

export const dimensions = ['pages', 'referrers', 'countries', 'devices'] as const;
export type Dimension = (typeof dimensions)[number];
/** The stored form. */
export type Counts = Record<string, number>;
export type Tallied = Record<Dimension, Map<string, number>>;

/** The key of everything over the limit. No page, host, country or device has this name. */
export const other = 'other';

/** Maximum number of keys per row and dimension, besides `other`. */
export const keysMax: Record<Dimension, number> = { pages: 100, referrers: 60, countries: 60, devices: 8 };

export function newTallied(): Tallied {
  return { pages: new Map(), referrers: new Map(), countries: new Map(), devices: new Map() };
}

export function addCounts(into: Tallied, from: Record<Dimension, Counts>): void {
  for (const dimension of dimensions)
    for (const [key, views] of Object.entries(from[dimension])) add(into[dimension], key, views);
}

function add(counts: Map<string, number>, key: string, views: number): void {
  counts.set(key, (counts.get(key) ?? 0) + views);
}

/** Highest count first, `other` last. */
export function ranked(counts: Map<string, number>, max: number): [key: string, views: number][] {
  const known = [...counts].filter(([key]) => key !== other).sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  const rest = known.slice(max).reduce((sum, [, views]) => sum + views, counts.get(other) ?? 0);
  return rest > 0 ? [...known.slice(0, max), [other, rest]] : known;
}

/** The stored form, within the limits. */
export function rowOf(tallied: Tallied): Record<Dimension, Counts> {
  const row = (dimension: Dimension) => Object.fromEntries(ranked(tallied[dimension], keysMax[dimension]));
  return { pages: row('pages'), referrers: row('referrers'), countries: row('countries'), devices: row('devices') };
}
