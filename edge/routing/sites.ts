/** Keeps the site table current: by NOTIFY and by polling each second. */
import type { Logger } from 'pino';
import type { Notifications } from '#db/notifications.ts';
import type { EdgeDatabase } from './database.ts';
import { startPoller } from './db-poller.ts';
import { openSiteTable, type SiteTable } from './site-table.ts';
import type { Position } from './sites-file.ts';

export type Sites = Pick<SiteTable, 'byName' | 'byFormerName' | 'byLabel' | 'byDomain'> & {
  /** Resolves when the table has all sites: of the database, or of an earlier process if the database takes long. */
  ready: Promise<void>;
  close(): Promise<void>;
};

type Parts = { database: EdgeDatabase; notifications: Notifications; log: Logger; file: string };

export function openSites({ database, notifications, log, file }: Parts): Sites {
  const table = openSiteTable(file, log);
  let isFilled = false;

  async function poll(): Promise<void> {
    table.repair();
    const position = table.position();
    isFilled = position !== undefined;
    if (!position) return readAll();
    const changes = await database.sitesChangedSince(position.mark);
    // Marks only grow, unless the database was restored, or a standby took over that lost the last transactions. Its own may have passed
    // the mark since, so everything is read again.
    const isOther = changes.server !== position.server || BigInt(changes.mark) < BigInt(position.mark);
    if (isOther || changes.isPartial) await readAll();
    else table.apply(changes, position.mark);
  }

  async function readAll(): Promise<void> {
    const known = new Set<string>();
    let position: Position | undefined;
    for await (const part of database.allSites()) {
      position ??= part;
      for (const { id } of part.sites) known.add(id);
      for (const id of part.gone) known.delete(id);
      table.apply(part);
    }
    if (position) await table.finish(position, (id) => known.has(id));
  }

  const poller = startPoller({
    poll,
    hasFallback: () => isFilled,
    fallBackAfterMs: 1_000,
    channel: 'site_changed',
    notifications,
    log,
  });

  return {
    byName: table.byName,
    byFormerName: table.byFormerName,
    byLabel: table.byLabel,
    byDomain: table.byDomain,
    ready: poller.ready,
    async close() {
      await poller.close();
      table.close();
    },
  };
}
