import { createEncryptionKeys } from '#runtime/encryption.ts';
import type { Settings } from '#runtime/settings.ts';

export function installationConfig(e: Settings) {
  return {
    dataDir: e.FRONTAGE_DATA,
    baseUrl: e.FRONTAGE_BASE_URL.origin,
    baseDomain: e.FRONTAGE_BASE_DOMAIN,
    edgeUrl: e.FRONTAGE_EDGE_URL.origin,
    api: { host: e.FRONTAGE_API_HOST, port: e.FRONTAGE_API_PORT },
    databaseUrl: e.DATABASE_URL,
    /** With the role of builds workers; absent if they connect as the others do. */
    buildsDatabaseUrl: e.FRONTAGE_BUILDS_DATABASE_URL ? e.FRONTAGE_BUILDS_DATABASE_URL.href : undefined,
    temporal: { address: e.TEMPORAL_ADDRESS, namespace: e.TEMPORAL_NAMESPACE, uiUrl: e.TEMPORAL_UI_URL },
    secret: e.FRONTAGE_SECRET,
    encryptionKeys: createEncryptionKeys(
      e.FRONTAGE_SECRET,
      e.FRONTAGE_SEALING_KEYS === 'none' ? [] : e.FRONTAGE_SEALING_KEYS,
    ),
    /** False for `none`: owners' provider keys are not stored under the key derived from `secret`. */
    canStorePayoutKeys: e.FRONTAGE_SEALING_KEYS !== 'none',
    logLevel: e.FRONTAGE_LOG_LEVEL,
  };
}
