import { z } from 'zod';

const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/, 'a SHA-256 is 64 digits in small hex')
  .describe('SHA-256 of the bytes, in small hex.');

/** One part of a manifest. */
export const manifestInput = z.strictObject({
  files: z
    .array(
      z.strictObject({
        path: z.string().describe('As visitors ask for it, without the first slash.'),
        sha256,
        bytes: z.number().int().min(0).max(Number.MAX_SAFE_INTEGER),
      }),
    )
    .describe('1 to 5,000 files. A path stands in the manifest once, over all calls.'),
});

export const manifestAnswer = z
  .object({ missing: z.array(z.string()).describe('Hashes of this part whose bytes have to be sent.') })
  .meta({ id: 'ManifestPart' });

export const fileParams = z.object({ id: z.string(), sha256: z.string() });

export const receivedFile = z.object({ sha256: z.string(), bytes: z.number().int() }).meta({ id: 'ReceivedFile' });
