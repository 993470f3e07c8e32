/**
 * The edge's own copy of all sites: an SQLite file that the processes of an edge share. A change costs as much with a million sites as
 * with one, a start reads no site, and memory holds those that are visited.
 */
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import type { DomainRow, PreviewRow, SiteChanges, SiteRow } from './database.ts';
import { type HostKind, hostKinds, hostsOf, openSitesFile, type Position, removeSitesFile } from './sites-file.ts';

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
  /** Undefined before all sites were read once. Forgets what another process has changed. */
  position(): Position | undefined;
  /** Applies changes since the mark `since`, or without it a part of all sites. They are seen even if the disk takes nothing. */
  apply(changes: SiteChanges, since?: string): void;
  /** All sites were read: moves the position, and removes sites that were not among them. */
  finish(position: Position, isKnown: (id: string) => boolean): Promise<void>;
  /** Begins an empty table if the file cannot be read. Until `finish`, a look-up of what it lacks throws. */
  repair(): void;
  close(): void;
};

const cachedMax = 50_000;

export function openSiteTable(file: string, log: Logger): SiteTable {
  let disk = openSitesFile(file, log);
  let isBroken = false;
  let isSaving = true;
  /** After a repair, until all sites are read again, a host that is not found may yet be one. */
  let isWhole = true;
  let seen = disk.version();
  const rows = new LRUCache<string, SiteRow>({ max: cachedMax });
  const idsOf = Object.fromEntries(
    hostKinds.map((kind) => [kind, new LRUCache<string, string>({ max: cachedMax })]),
  ) as {
    [kind in HostKind]: LRUCache<string, string>;
  };

  /** What `match` finds in the site at this host. A cached id may be of a site that has given up the host. */
  function find<Found>(kind: HostKind, name: string, match: (row: SiteRow, name: string) => Found | undefined) {
    const cachedId = idsOf[kind].get(name);
    const cached = cachedId === undefined ? undefined : rowOf(cachedId);
    const known = cached && match(cached, name);
    if (known) return known;
    const id = read(() => disk.siteAt(kind, name));
    const row = id === undefined ? undefined : rowOf(id);
    const found = row && match(row, name);
    if (found) idsOf[kind].set(name, row.id);
    else if (!isWhole) throw new Error('all sites are being read again');
    return found;
  }

  function rowOf(id: string): SiteRow | undefined {
    const cached = rows.get(id);
    if (cached) return cached;
    const row = read(() => disk.rowOf(id));
    if (row) rows.set(id, row);
    return row;
  }

  function read<Value>(ask: () => Value): Value {
    try {
      return ask();
    } catch (error) {
      isBroken = true;
      throw error;
    }
  }

  /** Keeps changes in memory. The next query returns them again, because the position has not moved. */
  function hold({ sites, gone }: SiteChanges): void {
    for (const site of sites) {
      rows.set(site.id, site);
      for (const [kind, name] of hostsOf(site)) idsOf[kind].set(name, site.id);
    }
    for (const id of gone)
      rows.set(id, { id, name: '', status: 'active', manifestSha256: null, redirectsSha256: null });
  }

  function write(change: () => void, held: SiteChanges | undefined): void {
    try {
      disk.transaction(change);
      isSaving = true;
    } catch (err) {
      if (isSaving)
        log.error({ err }, 'changes of sites are kept in memory, because the table of sites cannot be written');
      isSaving = false;
      if (held) hold(held);
    }
  }

  return {
    byName: (name) => find('name', name, siteNamed),
    byFormerName: (name, now) => find('former', name, (site) => (isFormer(site, name, now) ? site : undefined)),
    byLabel: (label) => find('label', label, previewAt),
    byDomain: (host) => find('domain', host, domainAt),
    position() {
      return read(() => {
        const position = disk.position();
        const version = disk.version();
        if (version !== seen) rows.clear();
        seen = version;
        return position;
      });
    },
    apply(changes, since) {
      for (const { id } of changes.sites) rows.delete(id);
      for (const id of changes.gone) rows.delete(id);
      const changed = read(() => changes.sites.filter((site) => !disk.has(site)));
      const gone = read(() => changes.gone.filter((id) => disk.rowOf(id)));
      const isEmpty = changes.sites.length + changes.gone.length === 0;
      if (isEmpty || (since === undefined && changed.length + gone.length === 0)) return;
      write(() => {
        for (const site of changed) disk.put(site);
        for (const id of gone) disk.remove(id);
        const saved = disk.position();
        if (saved && saved.server === changes.server && mayMove(saved.mark, changes.mark, since)) disk.move(changes);
      }, changes);
      if (gone.length > 0 && isSaving) disk.emptyLog();
    },
    async finish(position, isKnown) {
      for (let after = '', ids = disk.idsAfter(after); ids.length > 0; ids = disk.idsAfter(after)) {
        const unknown = ids.filter((id) => !isKnown(id));
        for (const id of unknown) rows.delete(id);
        if (unknown.length > 0) write(() => unknown.forEach(disk.remove), undefined);
        after = ids.at(-1) as string;
        await new Promise(setImmediate);
      }
      write(() => disk.move(position), undefined);
      isWhole = true;
      if (isSaving) disk.emptyLog();
    },
    repair() {
      if (!isBroken) return;
      log.error('the table of sites cannot be read, and is made again');
      disk.close();
      removeSitesFile(file);
      disk = openSitesFile(file, log);
      seen = disk.version();
      isBroken = false;
      isWhole = false;
      rows.clear();
    },
    close: () => disk.close(),
  };
}

/**
 * The mark of the file promises that no change before it is missing. Another process may have written rows that it had read
 * earlier, and lowered the mark: then ours may not raise it again.
 */
function mayMove(saved: string, mark: string, since: string | undefined): boolean {
  return (since !== undefined && BigInt(saved) >= BigInt(since)) || BigInt(mark) < BigInt(saved);
}

const siteNamed = (site: SiteRow, name: string) => (site.name === name ? site : undefined);

function isFormer({ formerNames }: SiteRow, name: string, now: number): boolean {
  return formerNames?.some((former) => former.name === name && former.until > now) ?? false;
}

function previewAt(site: SiteRow, label: string): SitePreview | undefined {
  const preview = site.previews?.find((one) => one.label === label);
  return preview && { site, preview };
}

function domainAt(site: SiteRow, host: string): SiteDomain | undefined {
  const domain = site.domains?.find(({ name }) => name === host);
  return domain && { site, domain };
}
