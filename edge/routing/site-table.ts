/** All sites in memory, by name, former name, preview host and domain. Pure. */
import type { DomainRow, PreviewRow, SiteRow } from './database.ts';

export type SitePreview = { site: SiteRow; preview: PreviewRow };

export type SiteDomain = { site: SiteRow; domain: DomainRow };

export type SiteTable = {
  byName(name: string): SiteRow | undefined;
  /** The site that gave up this name, until it is free again. */
  byFormerName(name: string, now: number): SiteRow | undefined;
  /** The draft at a preview host, with its site. */
  byLabel(label: string): SitePreview | undefined;
  /** The site at an owner's domain. */
  byDomain(host: string): SiteDomain | undefined;
  /** Applies rows that may have changed, and removes sites. Returns whether any had, or was there. */
  apply(rows: SiteRow[], gone?: string[]): boolean;
  /** Replaces the whole table. */
  replace(rows: SiteRow[]): void;
  all(): Iterable<SiteRow>;
};

export function createSiteTable(): SiteTable {
  const byId = new Map<string, SiteRow>();
  const byName = new Map<string, SiteRow>();
  const byFormerName = new Map<string, { site: SiteRow; until: number }>();
  const byLabel = new Map<string, SitePreview>();
  const byDomain = new Map<string, SiteDomain>();

  function remove(id: string): boolean {
    const before = byId.get(id);
    if (!before) return false;
    // The old name may already belong to another site.
    if (byName.get(before.name) === before) byName.delete(before.name);
    for (const { name } of before.formerNames ?? [])
      if (byFormerName.get(name)?.site.id === id) byFormerName.delete(name);
    for (const { label } of before.previews ?? []) byLabel.delete(label);
    // So may a domain.
    for (const { name } of before.domains ?? []) if (byDomain.get(name)?.site.id === id) byDomain.delete(name);
    return byId.delete(id);
  }

  function put(row: SiteRow): void {
    remove(row.id);
    byId.set(row.id, row);
    byName.set(row.name, row);
    for (const { name, until } of row.formerNames ?? []) byFormerName.set(name, { site: row, until });
    for (const preview of row.previews ?? []) byLabel.set(preview.label, { site: row, preview });
    for (const domain of row.domains ?? []) byDomain.set(domain.name, { site: row, domain });
  }

  return {
    byName: (name) => byName.get(name),
    byFormerName(name, now) {
      const found = byFormerName.get(name);
      return found && found.until > now ? found.site : undefined;
    },
    byLabel: (label) => byLabel.get(label),
    byDomain: (host) => byDomain.get(host),
    apply(rows, gone = []) {
      const changed = rows.filter((row) => !isSame(byId.get(row.id), row));
      for (const row of changed) put(row);
      return gone.map(remove).some(Boolean) || changed.length > 0;
    },
    replace(rows) {
      byId.clear();
      byName.clear();
      byFormerName.clear();
      byLabel.clear();
      byDomain.clear();
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
    a.redirectsSha256 === b.redirectsSha256 &&
    JSON.stringify(a.previews) === JSON.stringify(b.previews) &&
    JSON.stringify(a.domains) === JSON.stringify(b.domains) &&
    JSON.stringify(a.formerNames) === JSON.stringify(b.formerNames)
  );
}
