/** Domains as an answer shows them: with their certificates, and whether another account holds the name. */
import { sslOf } from '../../db/certificates.ts';
import { Certificate } from '../../db/entities/certificate.ts';
import type { Domain } from '../../db/entities/domain.ts';
import type { EntityManager } from '../../db/orm.ts';
import type { Deps } from '../../deps.ts';
import { domainView } from './schemas.ts';

export async function domainViews(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  domains: readonly Domain[],
) {
  const taken = await takenAmong(em, domains);
  const certificates = await certificatesOf(em, domains);
  return domains.map((domain) => {
    const ssl = sslOf(certificates.get(domain.id), clock.now());
    return domainView(domain, { config, ssl, isTaken: taken.has(domain.id) });
  });
}

async function certificatesOf(em: EntityManager, domains: readonly Domain[]) {
  const found = await em.find(
    Certificate,
    { domainId: { $in: domains.map(({ id }) => id) } },
    { fields: ['domainId', 'status', 'notAfter', 'problem'], refresh: true },
  );
  return new Map(found.map((one) => [one.domainId, one]));
}

/** Those that their account does not hold, and another does. */
async function takenAmong(em: EntityManager, domains: readonly Domain[]): Promise<Set<string>> {
  const open = domains.filter(({ provedAt, status }) => !provedAt || status === 'Deleted').map(({ id }) => id);
  if (open.length === 0) return new Set();
  const rows: { id: string }[] = await em.execute(
    `select own.id from domain own where own.id = any(?) and exists (select 1 from domain other
       where other.registrable = own.registrable and other.account_id <> own.account_id and other.removed_at is null
       and other.proved_at is not null and other.status <> 'Deleted' and (own.name = other.name or own.name like '%.' || other.name))`,
    [`{${open.join(',')}}`],
  );
  return new Set(rows.map(({ id }) => id));
}
