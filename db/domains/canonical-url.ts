/** Where visitors find a site: what its pages, search engines, mails and people are told. */

import { Certificate } from '#db/certificates/certificate.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { displayName } from '#rules/dns/names.ts';
import { isServed } from '#rules/states.ts';
import { type Config, domainAddress, siteAddress, siteHostname } from '#runtime/config.ts';
import { Domain } from './domain.ts';

export type CanonicalUrl = {
  /** As people read it. */
  hostname: string;
  /** Scheme, host and port, without a path. */
  address: string;
};

/** As edges lead there: over TLS under certificates of ours, else in the way that something before them speaks for the platform's own names. */
export function addressOnDomain(config: Pick<Config, 'acme' | 'edgeUrl' | 'publicPorts'>, name: string): string {
  if (config.acme) return domainAddress(config, name, true);
  const { protocol, port } = new URL(config.edgeUrl);
  return `${protocol}//${name}${port ? `:${port}` : ''}`;
}

/** Its primary domain once visitors can be led there, else its name below the base domain. */
export async function canonicalUrl(
  em: EntityManager,
  config: Config,
  site: Pick<Site, 'id' | 'name'>,
): Promise<CanonicalUrl> {
  const primary = await em.findOne(Domain, { site: site.id, isPrimary: true, removedAt: null });
  if (primary && isServed(primary) && (await hasCertificate(em, config, primary.id))) {
    return { hostname: displayName(primary.name), address: addressOnDomain(config, primary.name) };
  }
  return { hostname: siteHostname(config, site.name), address: siteAddress(config, site.name) };
}

/** One that ran out counts: it is being got again, and pages are not built anew for that while. */
async function hasCertificate(em: EntityManager, { acme }: Config, domainId: string): Promise<boolean> {
  return acme === undefined || (await em.count(Certificate, { domainId, notAfter: { $ne: null } })) > 0;
}
