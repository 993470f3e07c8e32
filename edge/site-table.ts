/** All sites in memory, by name. Pure: what to do with rows, whoever brings them. */
import type { SiteRow } from './database.ts';

export type SiteTable = {
  byName(name: string): SiteRow | undefined;
  /** Takes in rows that may have changed. Answers whether any had. */
  apply(rows: SiteRow[]): boolean;
  /** Forgets all that is not among the rows. */
  replace(rows: SiteRow[]): void;
  all(): Iterable<SiteRow>;
};

export function createSiteTable(): SiteTable {
  const byId = new Map<string, SiteRow>();
  const byName = new Map<string, SiteRow>();

  function put(row: SiteRow): void {
    const before = byId.get(row.id);
    // By now the old name may be another site's.
    if (before && byName.get(before.name) === before) byName.delete(before.name);
    byId.set(row.id, row);
    byName.set(row.name, row);
  }

  return {
    byName: (name) => byName.get(name),
    apply(rows) {
      const changed = rows.filter((row) => !isSame(byId.get(row.id), row));
      for (const row of changed) put(row);
      return changed.length > 0;
    },
    replace(rows) {
      byId.clear();
      byName.clear();
      for (const row of rows) put(row);
    },
    all: () => byId.values(),
  };
}

function isSame(a: SiteRow | undefined, b: SiteRow): boolean {
  return (
    a !== undefined &&
    a.name === b.name &&
    a.status === b.status &&
    a.manifestSha256 === b.manifestSha256 &&
    a.redirectsSha256 === b.redirectsSha256
  );
}
