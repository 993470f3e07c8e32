/** Zones on our name server are what the rows say: whoever writes to one holds its name until the transaction ends. */
import type { Config } from '../config.ts';
import { ownRecords, zoneChanges, zoneSets } from '../domains/zone.ts';
import type { Zones } from '../providers/zones.ts';
import { Domain, DomainRecord } from './entities/domain.ts';
import type { EntityManager } from './orm.ts';

export type ZoneDeps = { config: Pick<Config, 'domains'>; zones: Zones | undefined };

export async function lockZone(tx: EntityManager, name: string): Promise<void> {
  await tx.execute('select pg_advisory_xact_lock(hashtextextended(?, 0))', [`zone:${name}`]);
}

/** Makes the zone of this name what the rows say that it is: absent, SOA and NS alone, or with its records. */
export async function syncZone(em: EntityManager, deps: ZoneDeps, name: string): Promise<void> {
  if (!deps.zones) return;
  const { zones } = deps;
  await em.transactional(async (tx) => {
    await lockZone(tx, name);
    await writeZone(tx, { ...deps, zones }, name);
  });
}

/** The same, in a transaction that holds the name already and has moved the rows. */
export async function writeZone(tx: EntityManager, deps: ZoneDeps & { zones: Zones }, name: string): Promise<void> {
  const wanted = await wantedZone(tx, deps, name);
  const there = await deps.zones.read(name);
  if (!wanted) {
    if (there) await deps.zones.remove(name);
  } else if (there) {
    const changes = zoneChanges(
      there.map((set) => ({ ...set, contents: [...set.contents] })),
      wanted,
    );
    if (changes.length > 0) await deps.zones.replace(name, changes);
  } else await deps.zones.create(name, wanted);
}

async function wantedZone(tx: EntityManager, { config }: ZoneDeps, name: string) {
  const rows = await tx.find(
    Domain,
    { name, mode: 'nameservers', removedAt: null },
    { orderBy: { id: 'asc' }, refresh: true },
  );
  if (rows.length === 0) return undefined;
  const base = config.domains.nameServers;
  const holder = rows.find(({ provedAt, status }) => provedAt && status !== 'Deleted');
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
