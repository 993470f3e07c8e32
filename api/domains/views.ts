/** Domains as an answer shows them: with their certificates, and whether another account holds the name. */
import { sslFields, sslOf } from '../../db/certificates.ts';
import { Certificate } from '../../db/entities/certificate.ts';
import type { Domain } from '../../db/entities/domain.ts';
import { heldByOthers } from '../../db/holding.ts';
import type { EntityManager } from '../../db/orm.ts';
import { isHolder } from '../../db/states.ts';
import type { Deps } from '../../deps.ts';
import { type Advice, adviceOf } from './acting.ts';
import { domainView } from './schemas.ts';

type Shown = ReturnType<typeof domainView>;

/** Each with what its answer says, and since when it waits for whoever is to act. */
export async function domainsWithAdvice(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  domains: readonly Domain[],
): Promise<{ domain: Domain; view: Shown; advice: Advice }[]> {
  const open = domains.filter((domain) => !isHolder(domain)).map(({ id }) => id);
  const taken = await heldByOthers(em, open);
  const certificates = await certificatesOf(em, domains);
  return domains.map((domain) => {
    const ssl = sslOf(certificates.get(domain.id), clock.now());
    const advice = adviceOf(domain, config, { ssl, takenSince: taken.get(domain.id) ?? null });
    return { domain, advice, view: domainView(domain, { ssl, advice }) };
  });
}

export async function domainViews(
  em: EntityManager,
  deps: Pick<Deps, 'config' | 'clock'>,
  domains: readonly Domain[],
): Promise<Shown[]> {
  return (await domainsWithAdvice(em, deps, domains)).map(({ view }) => view);
}

async function certificatesOf(em: EntityManager, domains: readonly Domain[]) {
  const found = await em.find(
    Certificate,
    { domainId: { $in: domains.map(({ id }) => id) } },
    { fields: ['domainId', ...sslFields], refresh: true },
  );
  return new Map(found.map((one) => [one.domainId, one]));
}
