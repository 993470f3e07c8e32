/** Bytes under callers' names in a bucket, and the sweep that keeps it small. */
import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';
import { dayMs } from '#rules/time.ts';
import { keptName, storageError } from './blob-names.ts';
import type { Bucket } from './s3-bucket.ts';
import { openObject } from './s3-reader.ts';
import { partBytes } from './spool-file.ts';
import type { NamedBytes } from './store.ts';

/** S3 records no access times: an empty object of the same name in this folder stores one. */
export const accessMarkersFolder = 'asked/';

/** `asked` is the folder for access markers. */
export function createS3NamedFiles(bucket: Bucket, folder: string, { asked }: { asked?: string } = {}): NamedBytes {
  return {
    async put(name, content) {
      const parts = partsOf(content);
      try {
        const { value: first = Buffer.alloc(0) } = await parts.next();
        if (first.length < partBytes) await bucket.put(folder + keptName(name), first);
        else await bucket.putParts(folder + keptName(name), prepend(first, parts));
      } catch (error) {
        content.destroy();
        throw content.errored ?? storageError(error);
      }
    },
    async read(name) {
      const path = folder + keptName(name);
      try {
        const reading = await openObject(bucket, path);
        if (reading && asked) await bucket.put(asked + name, Buffer.alloc(0));
        return reading?.content;
      } catch (error) {
        throw storageError(error);
      }
    },
    async remove(name) {
      await bucket.remove(folder + keptName(name)).catch((error) => {
        throw storageError(error);
      });
    },
  };
}

/** Removes expired objects, by the server's own clock. Returns how many. */
export async function sweepS3(bucket: Bucket): Promise<number> {
  const now = await serversNow(bucket);
  const before = (days: number) => new Date(now.getTime() - days * dayMs);
  return (
    (await removeBefore(bucket, 'scratch/', before(1))) +
    (await removeUnasked(bucket, before(30))) +
    (await bucket.abandonBefore(before(1)))
  );
}

/** The current time of the server. */
export async function serversNow(bucket: Bucket): Promise<Date> {
  const probe = `scratch/probe.${randomUUID()}`;
  await bucket.put(probe, Buffer.alloc(0));
  try {
    const found = await bucket.head(probe);
    if (!found) throw new Error('the bucket did not return an object that had just been written');
    return found.modifiedAt;
  } finally {
    await bucket.remove(probe);
  }
}

async function removeBefore(bucket: Bucket, folder: string, moment: Date): Promise<number> {
  let removed = 0;
  for await (const { name, modifiedAt } of bucket.list(folder)) {
    if (modifiedAt >= moment) continue;
    await bucket.remove(name);
    removed += 1;
  }
  return removed;
}

async function removeUnasked(bucket: Bucket, moment: Date): Promise<number> {
  const asked = new Set<string>();
  for await (const { name, modifiedAt } of bucket.list(accessMarkersFolder))
    if (modifiedAt >= moment) asked.add(name.slice(accessMarkersFolder.length));
  let removed = 0;
  for await (const { name, modifiedAt } of bucket.list('caches/')) {
    if (modifiedAt >= moment || asked.has(name.slice('caches/'.length))) continue;
    await bucket.remove(name);
    removed += 1;
  }
  await removeBefore(bucket, accessMarkersFolder, moment);
  return removed;
}

/** The same bytes in parts of `partBytes`; the last may be shorter. */
async function* partsOf(content: Readable): AsyncGenerator<Buffer> {
  let chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content as AsyncIterable<Buffer>) {
    chunks.push(chunk);
    bytes += chunk.length;
    while (bytes >= partBytes) {
      const all = Buffer.concat(chunks);
      yield all.subarray(0, partBytes);
      chunks = [all.subarray(partBytes)];
      bytes -= partBytes;
    }
  }
  if (bytes > 0) yield Buffer.concat(chunks);
}

async function* prepend(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}
