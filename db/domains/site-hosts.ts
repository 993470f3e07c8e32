/** The hosts that belong to a site, and the rescan when one is lost. */

import { sqlList } from '#db/arrays.ts';
import type { EntityManager } from '#db/orm.ts';
import { startScan } from '#db/scanning/transitions.ts';
import { shownStatuses } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { Domain } from './domain.ts';

/** A domain that points elsewhere is excluded, although its site is still served there for a while. */
export async function siteHosts(
  em: EntityManager,
  config: Config,
  { id, name }: { id: string; name: string },
): Promise<Set<string>> {
  const domains = await em.find(Domain, { site: id, status: 'active', removedAt: null }, { fields: ['name'] });
  return new Set([siteHostname(config, name), ...domains.map((domain) => domain.name)]);
}

/** Invalidates earlier scans of a site that has lost a host, and rescans the versions that are shown. */
export async function rescanSite(tx: EntityManager, clock: Clock, siteId: string): Promise<void> {
  const isShown = `status in ${sqlList(shownStatuses)}`;
  const read = await tx.execute<{ id: string; shown: boolean }[]>(
    `update deployment set scanned_whole = false, scanned_at = case when ${isShown} then null else scanned_at end
     where site_id = ? and scanned_at is not null returning id, ${isShown} as shown`,
    [siteId],
  );
  for (const { id, shown } of read) if (shown) startScan(tx, clock, { id }, siteId);
}
