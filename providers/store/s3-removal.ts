/**
 * Removal of blobs from a bucket, which has no operation that checks an object's time and removes it at once. So a
 * removal writes a marker, then reads the time, then removes the object and at last the marker. Whoever puts an old blob
 * writes it again, then looks for the marker, and then looks for the object. One of the two sees the other.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { minuteMs } from '#rules/time.ts';
import { blobName } from './blob-names.ts';
import { createStorageClock, recentMs, renewMs } from './removal.ts';
import type { Bucket } from './s3-bucket.ts';
import { serversNow } from './s3-named-files.ts';
import type { Found } from './s3-responses.ts';

/** A removal that takes longer than this is abandoned, and the marker of a killed one is ignored after twice that. */
const removalMs = minuteMs;
const stepMs = 50;

export function createS3Removal(bucket: Bucket) {
  const time = createStorageClock(async () => (await serversNow(bucket)).getTime());
  const ageOf = async ({ modifiedAt }: Found) => (await time()) - modifiedAt.getTime();
  // In the folder that is swept daily.
  const marker = (sha256: string) => `scratch/removing.${sha256}`;

  async function isBeingRemoved(sha256: string): Promise<boolean> {
    const found = await bucket.head(marker(sha256));
    return found !== undefined && (await ageOf(found)) < 2 * removalMs;
  }

  return {
    /** Whether a blob that was found has to be written again, because a removal may take it. */
    isOld: async (found: Found) => (await ageOf(found)) >= renewMs,

    /** Writes an old blob again until it stays. */
    async renew(sha256: string, write: () => Promise<unknown>): Promise<void> {
      do {
        await write();
        while (await isBeingRemoved(sha256)) await pause(stepMs);
      } while (!(await bucket.head(blobName(sha256))));
    },

    /** Whether the blob is gone. */
    async remove(sha256: string): Promise<boolean> {
      const began = performance.now();
      await bucket.put(marker(sha256), Buffer.alloc(0));
      try {
        const found = await bucket.head(blobName(sha256));
        if (found && (await ageOf(found)) < recentMs) return false;
        for (const encoding of ['br', 'gzip', 'identity'] as const) {
          if (performance.now() - began > removalMs) return false;
          await bucket.remove(blobName(sha256, encoding));
        }
        return true;
      } finally {
        await bucket.remove(marker(sha256));
      }
    },
  };
}
