/** Keeps the site table current: by NOTIFY, by polling each second, and on disk for a start without the database. */
import type { Logger } from 'pino';
import type { Notifications } from '#db/notifications.ts';
import type { EdgeDatabase, SiteRow } from './database.ts';
import { startPoller } from './db-poller.ts';
import { createSiteTable, type SiteDomain, type SitePreview } from './site-table.ts';
import { readSitesFile, writeSitesFile } from './sites-file.ts';

export type Sites = {
  byName(name: string): SiteRow | undefined;
  byFormerName(name: string, now: number): SiteRow | undefined;
  byLabel(label: string): SitePreview | undefined;
  byDomain(host: string): SiteDomain | undefined;
  /** Resolves when the table is loaded: from the database, or from the file if the database does not respond. */
  ready: Promise<void>;
  close(): Promise<void>;
};

const saveAfterMs = 1_000;

type Parts = { database: EdgeDatabase; notifications: Notifications; log: Logger; file: string };

export function openSites({ database, notifications, log, file }: Parts): Sites {
  const table = createSiteTable();
  const saver = createSaver(file, () => table.all(), log);
  let known: { mark: string; server: string } | undefined;
  let knownFromFile = false;

  async function poll(): Promise<void> {
    let answer = known ? await database.sitesChangedSince(known.mark) : await database.allSites();
    // Marks only grow, unless the database was restored, or a standby took over that lost the last transactions. Its own may have passed
    // the mark since, so everything is read again.
    const isOther = known && (answer.server !== known.server || BigInt(answer.mark) < BigInt(known.mark));
    if (isOther) answer = await database.allSites();
    const whole = !known || isOther;
    if (whole) table.replace(answer.sites);
    if (whole || table.apply(answer.sites, answer.gone)) saver.soon();
    known = { mark: answer.mark, server: answer.server };
  }

  async function loadFile(): Promise<void> {
    const known = await readSitesFile(file);
    if (!known) return;
    table.replace(known);
    knownFromFile = true;
  }

  const poller = startPoller({
    poll,
    hasFallback: () => knownFromFile,
    channel: 'site_changed',
    notifications,
    log,
    prepare: loadFile,
  });

  return {
    byName: table.byName,
    byFormerName: table.byFormerName,
    byLabel: table.byLabel,
    byDomain: table.byDomain,
    ready: poller.ready,
    async close() {
      await poller.close();
      await saver.close();
    },
  };
}

/** Writes the file a second after a change, once for many changes. */
function createSaver(file: string, sites: () => Iterable<SiteRow>, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  function save(): void {
    timer = undefined;
    running = running
      .then(() => writeSitesFile(file, sites()))
      .catch((err) => log.error({ err }, 'the cached list of sites could not be saved'));
  }

  return {
    soon() {
      timer ??= setTimeout(save, saveAfterMs);
    },
    async close() {
      if (timer) {
        clearTimeout(timer);
        save();
      }
      await running;
    },
  };
}
