/** Workers and where data is stored. */
import { z } from 'zod';
import { folderOrBucket } from '#runtime/buckets.ts';
import { list, url } from './types.ts';

export const workers = {
  FRONTAGE_QUEUES: list
    .pipe(z.array(z.enum(['platform', 'builds'])).min(1))
    .default(['platform', 'builds'])
    .describe('Task queues of this worker.'),
  FRONTAGE_BUILD_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(64)
    .default(2)
    .describe('Concurrent builds of one worker. Each may use 2 GiB and 2 CPUs.'),
  FRONTAGE_WARM_SANDBOXES: z
    .union([z.literal('').transform(() => undefined), z.coerce.number().int().min(0).max(64)])
    .optional()
    .describe(
      'Containers that a worker starts ahead of builds, about 0.7 GiB each. 0 starts none: then each build starts its own.',
    ),
  FRONTAGE_SANDBOX: z
    .enum(['auto', 'docker', 'bubblewrap', 'off', 'none-run-builds-unprotected'])
    .default('auto')
    .describe('`auto`, `docker`, `bubblewrap`, `off` or `none-run-builds-unprotected`.'),
  DOCKER_HOST: z.string().default('').describe('Socket of the container engine. Empty: the engine’s default.'),
};

export const storage = {
  FRONTAGE_REPOSITORIES: z
    .string()
    .default('')
    .describe('Folder of the bare git repositories. `none` for a deployment without repositories.'),
  FRONTAGE_GIT_SLOTS: z.coerce
    .number()
    .int()
    .min(1)
    .max(1024)
    .default(16)
    .describe(
      'Concurrent clones, fetches and pushes of one API process; one site may use half of them. Each git process takes up to 256 MiB. Other requests wait 20 s, then return 503.',
    ),
  FRONTAGE_STORE: z
    .string()
    .regex(folderOrBucket, 'is neither a folder nor s3://bucket/folder')
    .default('')
    .describe(
      'The store: a folder, or `s3://bucket/folder`. See [the store in a bucket](containers.md#the-store-in-a-bucket).',
    ),
  FRONTAGE_S3_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe('Address of the S3-compatible server of the store. Empty: the vendor’s own.'),
  FRONTAGE_S3_REGION: z.string().default('us-east-1').describe('Region of that server.'),
  FRONTAGE_S3_KEY_ID: z
    .string()
    .default('')
    .describe('Its access key. If key and secret are empty, the role or configuration of the machine is used.'),
  FRONTAGE_S3_SECRET: z.string().default('').describe('The secret of that key.'),
  FRONTAGE_BACKUP_S3_ENDPOINT: url
    .or(z.literal(''))
    .default('')
    .describe('Server of backups in a bucket. Choose one that cannot fail together with the store’s.'),
  FRONTAGE_BACKUP_S3_REGION: z.string().default('us-east-1').describe('Region of that server.'),
  FRONTAGE_BACKUP_S3_KEY_ID: z.string().default('').describe('Its access key.'),
  FRONTAGE_BACKUP_S3_SECRET: z.string().default('').describe('The secret of that key.'),
};
