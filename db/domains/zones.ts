/** Zones on our name server follow the rows. Code that writes a zone locks its name until the transaction ends. */

import type { EntityManager } from '#db/orm.ts';
import { lockInTransaction } from '#db/transaction-lock.ts';
import type { Zones } from '#providers/zones.ts';
import type { DnsAnswer } from '#rules/dns/observation.ts';
import { ownRecords, zoneChanges, zoneSets } from '#rules/dns/zone.ts';
import { type DomainStatus, ownsName } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import { Domain, DomainRecord } from './domain.ts';
import { isOwnerSql } from './ownership.ts';

export type ZoneDeps = { config: Pick<Config, 'domains'>; zones: Zones | undefined };

export async function lockZone(tx: EntityManager, name: string): Promise<void> {
  await lockInTransaction(tx, `zone:${name}`);
}

/**
 * Synchronises the zone of this name with the rows: it is absent, has only SOA and NS, or has its records. Does the
 * same for unproved zones below it.
 */
export async function syncZone(em: EntityManager, deps: ZoneDeps, name: string): Promise<void> {
  if (!deps.zones) return;
  const { zones } = deps;
  await em.transactional(async (tx) => {
    await lockZone(tx, name);
    await writeZone(tx, { ...deps, zones }, name);
  });
  for (const below of await unprovedBelow(em, name)) await syncZone(em, deps, below);
}

/** Added but unproved names below: whether they have zones depends on this one. */
async function unprovedBelow(em: EntityManager, name: string): Promise<string[]> {
  const rows = await em.execute<{ name: string }[]>(
    `select distinct name from domain where name like '%.' || ? and mode = 'nameservers' and removed_at is null and not ${isOwnerSql('domain')}`,
    [name],
  );
  return rows.map((row) => row.name);
}

/**
 * The closest zone above whose name an account owns here. Records below belong in it, because a separate zone here
 * would be answered first.
 */
async function zoneAbove(tx: EntityManager, { name, registrable }: { name: string; registrable: string }) {
  const [above] = await tx.execute<{ id: string; status: DomainStatus }[]>(
    `select id, status from domain where registrable = ? and ? like '%.' || name and mode = 'nameservers' and ${isOwnerSql('domain')}
     order by length(name) desc limit 1`,
    [registrable, name],
  );
  return above;
}

/** The name servers to which the zone above delegates the name; undefined where that zone is not active. */
export async function ownDelegation(
  tx: EntityManager,
  domain: { name: string; registrable: string },
): Promise<DnsAnswer | undefined> {
  const above = await zoneAbove(tx, domain);
  if (above?.status !== 'active') return undefined;
  const found = await tx.find(DomainRecord, { domain: above.id, name: domain.name, type: 'NS' });
  return found.length > 0 ? { found: found.map(({ content }) => content) } : { none: true };
}

/** The same as `syncZone`, in a transaction that has locked the name and changed the rows. */
export async function writeZone(tx: EntityManager, deps: ZoneDeps & { zones: Zones }, name: string): Promise<void> {
  const wanted = await expectedZone(tx, deps, name);
  const there = await deps.zones.read(name);
  if (!wanted) {
    if (there) await deps.zones.remove(name);
  } else if (there) {
    const changes = zoneChanges(
      name,
      there.map((set) => ({ ...set, contents: [...set.contents] })),
      wanted,
    );
    if (changes.length > 0) await deps.zones.replace(name, changes);
  } else await deps.zones.create(name, wanted);
}

async function expectedZone(tx: EntityManager, { config }: ZoneDeps, name: string) {
  const rows = await tx.find(
    Domain,
    { name, mode: 'nameservers', removedAt: null },
    { orderBy: { id: 'asc' }, refresh: true },
  );
  const [first] = rows;
  if (!first) return undefined;
  const base = config.domains.nameServers;
  const holder = rows.find(ownsName);
  if (!holder && (await zoneAbove(tx, first))) return undefined;
  if (!holder) return zoneSets(name, { pairs: rows.map(({ pair }) => pair), records: [] }, base);
  const records = await tx.find(DomainRecord, { domain: holder.id });
  const own = ownRecords(name, config.domains.edgeAddresses, []);
  const set = records.map(({ type, name, content, ttl, priority }) => ({
    type,
    name,
    content,
    ttl,
    priority: priority ?? null,
  }));
  return zoneSets(name, { pairs: [holder.pair], records: [...own, ...set] }, base);
}
