import type { Settings } from '#runtime/settings.ts';

export function edgesConfig(e: Settings) {
  return {
    edge: {
      host: e.FRONTAGE_EDGE_HOST,
      port: e.FRONTAGE_EDGE_PORT,
      /** Absent if the edge does not accept TLS. */
      tlsPort: e.FRONTAGE_EDGE_TLS_PORT,
      processes: e.FRONTAGE_EDGE_PROCESSES,
      cacheBytes: e.FRONTAGE_EDGE_CACHE_BYTES,
      diskBytes: e.FRONTAGE_EDGE_DISK_BYTES,
      accessLog: e.FRONTAGE_EDGE_ACCESS_LOG === 'on',
      /** Peers that send the PROXY protocol; usually none. */
      fronts: e.FRONTAGE_PROXY_PROTOCOL_FROM,
    },
    publicPorts: { http: e.FRONTAGE_PUBLIC_HTTP_PORT, tls: e.FRONTAGE_PUBLIC_TLS_PORT },
    /** Absent if no certificates are ordered. */
    acme: e.FRONTAGE_ACME_URL
      ? { directoryUrl: e.FRONTAGE_ACME_URL, email: e.FRONTAGE_ACME_EMAIL, trusts: e.FRONTAGE_ACME_CA }
      : undefined,
    analytics: e.FRONTAGE_ANALYTICS === 'on',
    countryHeader: e.FRONTAGE_COUNTRY_HEADER,
    trustedProxies: e.FRONTAGE_TRUSTED_PROXIES,
  };
}
