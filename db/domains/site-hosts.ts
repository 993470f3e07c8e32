/** The hosts that belong to a site, and the rescan when one is lost. */

import type { EntityManager } from '#db/orm.ts';
import { startScan } from '#db/scanning/transitions.ts';
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
  const read = await tx.execute<{ id: string; shown: boolean }[]>(
    `update deployment set scanned_whole = false, scanned_at = case when status in ('live', 'ready') then null else scanned_at end
     where site_id = ? and scanned_at is not null returning id, status in ('live', 'ready') as shown`,
    [siteId],
  );
  for (const { id, shown } of read) if (shown) startScan(tx, clock, { id }, siteId);
}
