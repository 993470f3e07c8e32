/** Records in a zone that the platform hosts. Records of an unproved domain are published once it is proved. */

import type { Person } from '#api/access.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { type Domain, DomainRecord } from '#db/domains/domain.ts';
import { lockDomain } from '#db/domains/transitions.ts';
import { lockZone, writeZone } from '#db/domains/zones.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { RecordsRefused, type Zones } from '#providers/zones.ts';
import { call } from '#rules/calls/calls.ts';
import { RecordFault, readRecord, requireCompatible } from '#rules/dns/records.ts';
import { nameServersOf, ownRecords, type ZoneRecord } from '#rules/dns/zone.ts';
import { type RecordType, recordTypes } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { loadDomain } from './rules.ts';
import type { RecordView } from './schemas.ts';

type Input = { type: string; name: string; content: string; ttl?: number | undefined; priority?: number | undefined };

/** A domain whose zone is hosted here. Throws `records_not_managed`. */
export async function loadManaged(em: EntityManager, deps: Deps, actor: Person, id: string): Promise<Domain> {
  const domain = await loadDomain(em, actor, id);
  if (domain.mode === 'nameservers' && deps.zones) return domain;
  throw errors.records_not_managed(`The platform does not host the DNS for ${domain.name}.`, {
    nextAction: `Set the record at the domain’s DNS provider. Call ${call('domain.read')} to list the records that the platform needs.`,
  });
}

/** The platform's own records first, then the owner's, newest first. */
export async function recordsOf(em: EntityManager, { config }: Deps, domain: Domain): Promise<RecordView[]> {
  const rows = await em.find(DomainRecord, { domain: domain.id }, { orderBy: { id: 'desc' } });
  return [...own(config, domain).map(ownView), ...rows.map(recordView)];
}

function own({ domains }: Deps['config'], domain: Domain): ZoneRecord[] {
  return ownRecords(domain.name, domains.edgeAddresses, nameServersOf(domain, domains.nameServers));
}

const ownPrefix = 'rec_own_';

function ownView(record: ZoneRecord, at: number): RecordView {
  return view(`${ownPrefix}${at + 1}`, record, true);
}

export function recordView(row: DomainRecord): RecordView {
  return view(row.id, { ...row, priority: row.priority ?? null }, false);
}

function view(record_id: string, { type, name, content, ttl, priority }: ZoneRecord, managed: boolean): RecordView {
  return { record_id, type, name, content, ttl, ...(priority === null ? {} : { priority }), managed };
}

/** Throws `invalid_record`, `record_rejected`, `plan_limit`, `provider_error`. */
export async function addRecord(
  em: EntityManager,
  deps: Deps,
  actor: Person,
  { domainId, recordId, input }: { domainId: string; recordId: string; input: Input },
): Promise<DomainRecord> {
  const { name: zone } = await loadManaged(em, deps, actor, domainId);
  const record = withRecordErrors(() => readRecord(zone, { ...input, type: readType(input.type) }));
  return await inZone(em, deps, domainId, async (tx, domain) => {
    await countWithinLimit(tx, deps, {
      limit: 'records_per_domain',
      accountId: actor.accountId,
      count: () => tx.count(DomainRecord, { domain: domain.id }),
      what: 'records per domain',
      holder: 'this domain',
      nextAction: 'Remove records that are no longer needed.',
    });
    const rows = await tx.find(DomainRecord, { domain: domain.id });
    const others = [...own(deps.config, domain), ...rows.map((row) => ({ ...row, priority: row.priority ?? null }))];
    withRecordErrors(() => requireCompatible(zone, record, others));
    recordRecord(tx, deps, actor, 'domain_record.added', { id: recordId, domain, ...record });
    return tx.create(DomainRecord, { id: recordId, domain, ...record, createdAt: deps.clock.now() });
  });
}

/** The content may be a secret of another service. */
function recordRecord(
  tx: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  by: Person,
  action: 'domain_record.added' | 'domain_record.removed',
  { id, domain, type, name }: Pick<DomainRecord, 'id' | 'type' | 'name'> & { domain: Domain },
): void {
  recordAct(tx, clock, by, action, { subject: { id, name: `${type} ${name}` }, detail: { domain: domain.name } });
}

/** Throws `not_found`, and `invalid_record` for one of the platform's own. */
export async function removeRecord(
  em: EntityManager,
  deps: Deps,
  actor: Person,
  { domainId, recordId }: { domainId: string; recordId: string },
): Promise<DomainRecord> {
  await loadManaged(em, deps, actor, domainId);
  if (new RegExp(`^${ownPrefix}\\d{1,3}$`).test(recordId)) {
    throw errors.invalid_record(
      'This record belongs to the platform and cannot be removed, because the domain needs it.',
    );
  }
  return await inZone(em, deps, domainId, async (tx, domain) => {
    const row = isId('rec', recordId) ? await tx.findOne(DomainRecord, { id: recordId, domain: domain.id }) : null;
    if (!row) throw noSuchRecord(domainId);
    recordRecord(tx, deps, actor, 'domain_record.removed', { ...row, domain });
    tx.remove(row);
    return row;
  });
}

export async function loadRecord(em: EntityManager, domain: Domain, id: string): Promise<DomainRecord> {
  const row = await em.findOne(DomainRecord, { id, domain: domain.id });
  if (row) return row;
  throw noSuchRecord(domain.id);
}

function noSuchRecord(domainId: string) {
  return errors.not_found('The domain has no record with this id.', {
    nextAction: `Call ${call('record.list', { id: domainId })} to list the domain’s records.`,
  });
}

function readType(type: string): RecordType {
  const known = recordTypes.find((one) => one === type.toUpperCase());
  if (known) return known;
  throw errors.invalid_record(`This record type is not supported. Supported types: ${recordTypes.join(', ')}.`);
}

function withRecordErrors<T>(validate: () => T): T {
  try {
    return validate();
  } catch (error) {
    if (!(error instanceof RecordFault)) throw error;
    throw errors.invalid_record(`The record is not valid: ${error.message}.`, {
      nextAction: 'Correct the record and send it again.',
    });
  }
}

/** Changes the rows and writes the zone before the commit. If the commit fails, the next check repairs the zone. */
async function inZone<T>(
  em: EntityManager,
  deps: Deps,
  domainId: string,
  change: (tx: EntityManager, domain: Domain) => Promise<T>,
): Promise<T> {
  return await em.transactional(async (tx) => {
    const domain = await lockDomain(tx, domainId);
    if (domain.removedAt) throw errors.not_found('The domain has just been removed.');
    await lockZone(tx, domain.name);
    const changed = await change(tx, domain);
    await tx.flush();
    await writeZone(tx, { ...deps, zones: deps.zones as Zones }, domain.name).catch((error) => refused(deps, error));
    return changed;
  });
}

function refused({ log }: Deps, error: unknown): never {
  if (!(error instanceof RecordsRefused)) throw error;
  log.info({ err: error }, 'the name server rejected a record');
  throw errors.record_rejected('The platform’s name servers rejected this record.', {
    nextAction:
      'Check the record’s content against the documentation of the service that needs it, then send it again.',
  });
}
