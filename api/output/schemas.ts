import { z } from 'zod';
import { deploymentSchema } from '#api/deployments/schemas.ts';

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'it must be a SHA-256 hash: 64 lower-case hexadecimal digits')
  .describe('SHA-256 hash of the file’s contents, in lower-case hexadecimal.');

/** One part of a manifest. */
export const manifestInput = z.strictObject({
  files: z
    .array(
      z.strictObject({
        path: z.string().describe('The path in the URL, without the leading slash.'),
        sha256,
        bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
      }),
    )
    .describe('1 to 5,000 files. Each path may occur only once across all calls.'),
});

export const manifestAnswer = z
  .object({ missing: z.array(z.string()).describe('Hashes of the files in this part whose contents must be sent.') })
  .meta({ id: 'ManifestPart' });

export const archiveAnswer = z
  .object({
    deployment: deploymentSchema,
    left_out: z
      .array(z.string())
      .describe(
        'Paths of files that operating systems add to folders, such as `.DS_Store`. They are not in the manifest.',
      ),
  })
  .meta({ id: 'ArchiveAnswer' });

export const fileParams = z.object({ id: z.string(), sha256: z.string() });

export const receivedFile = z.object({ sha256: z.string(), bytes: z.number().int() }).meta({ id: 'ReceivedFile' });
