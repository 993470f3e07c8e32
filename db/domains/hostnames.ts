/** The site that a host serves. */

import type { EntityManager } from '#db/orm.ts';
import { Site } from '#db/sites/site.ts';
import type { Config } from '#runtime/config.ts';
import { siteOnDomain } from './transitions.ts';

/** Each returns the site that it serves on a host, in lower case. */
const sources: readonly ((em: EntityManager, config: Config, host: string) => Promise<Site | null>)[] = [
  async (em, { baseDomain }, host) =>
    host.endsWith(`.${baseDomain}`) ? await em.findOne(Site, { name: host.slice(0, -baseDomain.length - 1) }) : null,
  (em, _config, host) => siteOnDomain(em, host),
];

/** The site on this host, written with or without a scheme and in any case. Null where there is none. */
export async function siteServedOn(em: EntityManager, config: Config, hostname: string): Promise<Site | null> {
  const host = URL.parse(hostname.includes('://') ? hostname : `http://${hostname}`)?.hostname.replace(/\.$/, '');
  if (!host) return null;
  for (const source of sources) {
    const site = await source(em, config, host);
    if (site) return site;
  }
  return null;
}
