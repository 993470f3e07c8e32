import { resolve } from 'node:path';
import { bucketOf } from '#runtime/buckets.ts';
import type { Settings } from '#runtime/settings.ts';

export function workersConfig(e: Settings) {
  return {
    queues: e.FRONTAGE_QUEUES,
    buildSlots: e.FRONTAGE_BUILD_SLOTS,
    warmSandboxes: e.FRONTAGE_WARM_SANDBOXES,
    sandbox: e.FRONTAGE_SANDBOX,
    chromium: e.FRONTAGE_CHROMIUM,
    dockerHost: e.DOCKER_HOST,
  };
}

export function storageConfig(e: Settings) {
  const repositories =
    e.FRONTAGE_REPOSITORIES === 'none' ? undefined : e.FRONTAGE_REPOSITORIES || `${e.FRONTAGE_DATA}/repositories`;
  const isBucket = e.FRONTAGE_STORE.startsWith('s3://');
  const s3Server = s3ServerOf(e.FRONTAGE_S3_ENDPOINT, e.FRONTAGE_S3_REGION, e.FRONTAGE_S3_KEY_ID, e.FRONTAGE_S3_SECRET);
  const hasBackupServer = e.FRONTAGE_BACKUP_S3_ENDPOINT !== '' || e.FRONTAGE_BACKUP_S3_KEY_ID !== '';
  return {
    repositoriesDir: repositories === undefined ? undefined : resolve(repositories),
    gitSlots: e.FRONTAGE_GIT_SLOTS,
    /** Absent if the store is in a bucket. */
    storeDir: isBucket ? undefined : resolve(e.FRONTAGE_STORE || `${e.FRONTAGE_DATA}/store`),
    /** Absent if the store is a folder. */
    s3: isBucket ? { ...bucketOf(e.FRONTAGE_STORE), ...s3Server } : undefined,
    /** The server of `s3://…` backups. The default is the server of the store. */
    backupServer: hasBackupServer
      ? s3ServerOf(
          e.FRONTAGE_BACKUP_S3_ENDPOINT,
          e.FRONTAGE_BACKUP_S3_REGION,
          e.FRONTAGE_BACKUP_S3_KEY_ID,
          e.FRONTAGE_BACKUP_S3_SECRET,
        )
      : s3Server,
  };
}

function s3ServerOf(endpoint: URL | '', region: string, accessKeyId: string, secretAccessKey: string) {
  return {
    endpoint: endpoint ? endpoint.href : undefined,
    region,
    credentials: accessKeyId ? { accessKeyId, secretAccessKey } : undefined,
  };
}
