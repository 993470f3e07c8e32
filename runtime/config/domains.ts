import { domainModes } from '#rules/states.ts';
import type { Settings } from '#runtime/settings.ts';

export function domainsConfig(e: Settings) {
  return {
    domains: {
      modes: domainModes.filter((mode) => e.FRONTAGE_DOMAINS.includes(mode)),
      nameServers: e.FRONTAGE_NAMESERVERS || `ns.${e.FRONTAGE_BASE_DOMAIN}`,
      cnameTarget: e.FRONTAGE_CNAME_TARGET || `cname.${e.FRONTAGE_BASE_DOMAIN}`,
      edgeAddresses: e.FRONTAGE_EDGE_ADDRESSES,
      reserved: e.FRONTAGE_DOMAINS_RESERVED,
      endings: e.FRONTAGE_DOMAINS_ENDINGS,
      caaNames: e.FRONTAGE_CAA_NAMES,
    },
    dns: { resolvers: e.FRONTAGE_DNS_RESOLVERS, port: e.FRONTAGE_DNS_PORT },
    /** Absent if the platform hosts no zones. */
    zones: e.FRONTAGE_ZONES_URL ? { url: e.FRONTAGE_ZONES_URL.origin, key: e.FRONTAGE_ZONES_KEY } : undefined,
  };
}
