/** The canonical address of a site, for its pages, search engines, e-mails and display. */

import { Certificate } from '#db/certificates/certificate.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { displayName } from '#rules/dns/names.ts';
import { isServed } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';
import { domainAddress, siteAddress, siteHostname } from '#runtime/site-addresses.ts';
import { Domain } from './domain.ts';

export type CanonicalUrl = {
  /** With Unicode letters, for display. */
  hostname: string;
  /** Scheme, host and port, without a path. */
  address: string;
};

/** Over TLS where we issue certificates; otherwise with the scheme and port of the edge's URL. */
export function addressOnDomain(config: Pick<Config, 'acme' | 'edgeUrl' | 'publicPorts'>, name: string): string {
  if (config.acme) return domainAddress(config, name, true);
  const { protocol, port } = new URL(config.edgeUrl);
  return `${protocol}//${name}${port ? `:${port}` : ''}`;
}

/** The primary domain once it can be visited, otherwise the site's name below the base domain. */
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

/** An expired certificate counts: it is being renewed, and pages are not rebuilt for that time. */
async function hasCertificate(em: EntityManager, { acme }: Config, domainId: string): Promise<boolean> {
  return acme === undefined || (await em.count(Certificate, { domainId, notAfter: { $ne: null } })) > 0;
}
