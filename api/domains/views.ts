/** Domains as responses show them: with their certificates, and whether another account owns the name. */

import { Certificate } from '#db/certificates/certificate.ts';
import { sslFields, sslOf } from '#db/certificates/transitions.ts';
import { addressOnDomain } from '#db/domains/canonical-url.ts';
import type { Domain } from '#db/domains/domain.ts';
import { ownedByOthers } from '#db/domains/ownership.ts';
import type { EntityManager } from '#db/orm.ts';
import { ownsName } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { type Advice, adviceOf } from './responsible-party.ts';
import { domainView } from './schemas.ts';

type Shown = ReturnType<typeof domainView>;

/** Each domain with its certificate, its advice, and since when it has been waiting. */
export async function domainsWithAdvice(
  em: EntityManager,
  { config, clock }: Pick<Deps, 'config' | 'clock'>,
  domains: readonly Domain[],
): Promise<{ domain: Domain; view: Shown; advice: Advice }[]> {
  const open = domains.filter((domain) => !ownsName(domain)).map(({ id }) => id);
  const taken = await ownedByOthers(em, clock.now(), open);
  const certificates = await certificatesOf(em, domains);
  const named = await namedByPages(em, config, domains);
  return domains.map((domain) => {
    const ssl = sslOf(certificates.get(domain.id), clock.now());
    const facts = { ssl, takenSince: taken.get(domain.id) ?? null, named: named.get(domain.id) ?? null };
    const advice = adviceOf(domain, config, facts);
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

/** Addresses that live pages contain instead of their primary domain: those built before it was attached. */
async function namedByPages(
  em: EntityManager,
  config: Config,
  domains: readonly Domain[],
): Promise<Map<string, string>> {
  const primary = domains.filter(({ isPrimary }) => isPrimary);
  if (primary.length === 0) return new Map();
  const rows: { id: string; url: string }[] = await em.execute(
    `select domain.id, deployment.site_url as url from domain join site on site.id = domain.site_id
       join deployment on deployment.id = site.live_deployment_id where domain.id = any(?)`,
    [`{${primary.map(({ id }) => id).join(',')}}`],
  );
  const addresses = new Map(primary.map(({ id, name }) => [id, addressOnDomain(config, name)]));
  return new Map(rows.filter(({ id, url }) => url !== addresses.get(id)).map(({ id, url }) => [id, url]));
}
