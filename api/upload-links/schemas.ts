import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { UploadLink } from '#db/assets/upload-link.ts';
import { daySeconds } from '#rules/time.ts';
import type { Config } from '#runtime/config.ts';
import { type LinkStatus, statusOf } from './links.ts';

const count = z.number().int();

export const uploadInput = z.strictObject({
  expires_in_seconds: count
    .min(60)
    .max(30 * daySeconds)
    .optional()
    .describe(
      'Lifetime of the link: 1 minute to 30 days, and not longer than that of your token. The default is one week.',
    ),
  max_files: count.min(1).max(1000).default(10).describe('Maximum number of files in total. The default is 10.'),
  max_file_bytes: count
    .min(1)
    .optional()
    .describe('Maximum size of each file. The account’s `limits.file_bytes` is both the default and the upper limit.'),
});

export const uploadSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    status: z.enum(['open', 'full', 'expired', 'ended'] satisfies LinkStatus[]),
    max_files: count,
    files_left: count,
    max_file_bytes: count,
    created_at: moment,
    expires_at: moment,
    ended_at: moment.nullable(),
  })
  .meta({ id: 'UploadLink' });

export const newUploadSchema = uploadSchema
  .extend({
    url: z
      .string()
      .describe('The link that the owner opens in a browser. Anyone who has it can send files. It is shown only once.'),
  })
  .meta({ id: 'NewUploadLink' });

export function uploadView(link: UploadLink, now: Date): z.output<typeof uploadSchema> {
  return {
    id: link.id,
    site_id: link.site.id,
    status: statusOf(link, now),
    max_files: link.maxFiles,
    files_left: link.maxFiles - link.filesTaken,
    max_file_bytes: link.maxFileBytes,
    created_at: link.createdAt,
    expires_at: link.expiresAt,
    ended_at: link.endedAt ?? null,
  };
}

export function newUploadView(link: UploadLink, secret: string, { baseUrl }: Config, now: Date) {
  return { ...uploadView(link, now), url: `${baseUrl}/u/${secret}` };
}
