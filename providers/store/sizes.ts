/** Sizes of many blobs. */
import pLimit from 'p-limit';

/** The sizes of the blobs that exist, read with this concurrency. After a failure, no more are read. */
export async function readSizes(
  hashes: Iterable<string>,
  concurrency: number,
  sizeOf: (sha256: string) => Promise<number | undefined>,
): Promise<Map<string, number>> {
  const limit = pLimit(concurrency);
  const sizes = new Map<string, number>();
  try {
    await limit.map(new Set(hashes), async (sha256) => {
      const size = await sizeOf(sha256);
      if (size !== undefined) sizes.set(sha256, size);
    });
    return sizes;
  } finally {
    limit.clearQueue();
  }
}
