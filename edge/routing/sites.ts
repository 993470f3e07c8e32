/** Keeps the table of sites true: by NOTIFY at once, by a question each second, and on disk for a start without the database. */
import type { Logger } from 'pino';
import type { Notifications } from '#db/notifications.ts';
import type { EdgeDatabase, SiteRow } from './database.ts';
import { follow } from './db-poller.ts';
import { createSiteTable, type SiteDomain, type SitePreview } from './site-table.ts';
import { readSitesFile, writeSitesFile } from './sites-file.ts';

export type Sites = {
  byName(name: string): SiteRow | undefined;
  byLabel(label: string): SitePreview | undefined;
  byDomain(host: string): SiteDomain | undefined;
  /** Resolves when the table is known: from the database, or from the file if the database does not answer. */
  ready: Promise<void>;
  close(): Promise<void>;
};

const saveAfterMs = 1_000;

type Parts = { database: EdgeDatabase; changes: Notifications; log: Logger; file: string };

export function openSites({ database, changes, log, file }: Parts): Sites {
  const table = createSiteTable();
  const saving = openSaving(file, () => table.all(), log);
  let known: { mark: string; server: string } | undefined;
  let knownFromFile = false;

  async function ask(): Promise<void> {
    let answer = known ? await database.sitesChangedSince(known.mark) : await database.allSites();
    // Marks only grow, unless the database was put back from a copy, or another server took over that lost the last transactions of this one,
    // and whose own may have passed the mark since. Then nothing known can be trusted.
    const isOther = known && (answer.server !== known.server || BigInt(answer.mark) < BigInt(known.mark));
    if (isOther) answer = await database.allSites();
    const whole = !known || isOther;
    if (whole) table.replace(answer.sites);
    if (whole || table.apply(answer.sites)) saving.soon();
    known = { mark: answer.mark, server: answer.server };
  }

  async function knowFromFile(): Promise<void> {
    const known = await readSitesFile(file);
    if (!known) return;
    table.replace(known);
    knownFromFile = true;
  }

  const following = follow({
    ask,
    canDoWithout: () => knownFromFile,
    channel: 'site_changed',
    changes,
    log,
    prepare: knowFromFile,
  });

  return {
    byName: table.byName,
    byLabel: table.byLabel,
    byDomain: table.byDomain,
    ready: following.ready,
    async close() {
      await following.close();
      await saving.close();
    },
  };
}

/** Writes the file some time after a change, however many changes there are. */
function openSaving(file: string, sites: () => Iterable<SiteRow>, log: Logger) {
  let timer: NodeJS.Timeout | undefined;
  let running = Promise.resolve();

  function save(): void {
    timer = undefined;
    running = running
      .then(() => writeSitesFile(file, sites()))
      .catch((err) => log.error({ err }, 'the table of sites could not be saved'));
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
