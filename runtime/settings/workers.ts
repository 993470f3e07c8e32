/** Workers and where data is stored. */
import { z } from 'zod';
import { folderOrBucket } from '#runtime/buckets.ts';
import { list, url } from './types.ts';

export const workers = {
  FRONTAGE_QUEUES: list
    .pipe(z.array(z.enum(['platform', 'builds', 'screenshots'])).min(1))
    .default(['platform', 'builds', 'screenshots'])
    .describe('Task queues that this worker polls.'),
  FRONTAGE_BUILD_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe(
      'Maximum number of concurrent builds on one worker. Each may use 2 GiB of memory and 2 CPUs. Accounts take turns at them.',
    ),
  FRONTAGE_WARM_SANDBOXES: z
    .union([z.literal('').transform(() => undefined), z.coerce.number().int().min(0).max(64)])
    .optional()
    .describe(
      'Number of sandboxes that a worker starts before builds need them, about 0.7 GiB each, with docker, bubblewrap and namespaces. With 0, each build starts its own.',
    ),
  FRONTAGE_SANDBOX: z
    .enum(['auto', 'docker', 'bubblewrap', 'namespaces', 'seatbelt', 'off', 'none-run-builds-unprotected'])
    .default('auto')
    .describe(
      'Sandbox for builds: `auto`, `docker`, `bubblewrap`, `namespaces`, `seatbelt` (macOS), `off` or `none-run-builds-unprotected`.',
    ),
  FRONTAGE_CHROMIUM: z
    .string()
    .default('')
    .describe('Path of Chromium for screenshots and checks. Empty: the one in the usual folders of programs.'),
  DOCKER_HOST: z.string().default('').describe('Socket of the container engine. Empty: the engine’s default.'),
};

export const storage = {
  FRONTAGE_REPOSITORIES: z
    .string()
    .default('')
    .describe('Folder of the bare git repositories. `none` for an installation without repositories.'),
  FRONTAGE_GIT_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(16)
    .describe(
      'Maximum number of concurrent clones, fetches and pushes in one API process; the sites of one account may use half of them. Each git process uses up to 256 MiB of memory. Further requests wait up to 20 s, then fail with 503.',
    ),
  FRONTAGE_STORE: z
    .string()
    .regex(folderOrBucket, 'must be a folder or s3://bucket/folder')
    .default('')
    .describe(
      'Location of the file store: a folder, or `s3://bucket/folder`. See [the store in a bucket](containers.md#the-store-in-a-bucket).',
    ),
  FRONTAGE_S3_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe('URL of the store’s S3-compatible server. Empty: Amazon S3.'),
  FRONTAGE_S3_REGION: z.string().default('us-east-1').describe('Region of the store’s S3 server.'),
  FRONTAGE_S3_KEY_ID: z
    .string()
    .default('')
    .describe(
      'Access key id for the store’s S3 server. If key and secret are empty, the role or configuration of the machine is used.',
    ),
  FRONTAGE_S3_SECRET: z.string().default('').describe('Secret access key for the store’s S3 server.'),
  FRONTAGE_BACKUP_S3_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe(
      'URL of the S3-compatible server for backups. Choose one that cannot fail together with the store’s server.',
    ),
  FRONTAGE_BACKUP_S3_REGION: z.string().default('us-east-1').describe('Region of the S3 server for backups.'),
  FRONTAGE_BACKUP_S3_KEY_ID: z.string().default('').describe('Access key id for the S3 server for backups.'),
  FRONTAGE_BACKUP_S3_SECRET: z.string().default('').describe('Secret access key for the S3 server for backups.'),
};
