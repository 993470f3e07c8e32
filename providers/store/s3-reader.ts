/** Reads objects from a bucket: resumes after a lost connection, and verifies the hash before the last chunk. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Bucket, Opened } from './s3-bucket.ts';
import { WrongBytes } from './store.ts';

// In a row, each without a byte received.
const attemptsMax = 4;

/** The rest of a response. After a lost connection, requests the missing bytes of the same object. */
async function* resumed(bucket: Bucket, name: string, opened: Opened, start: number): AsyncGenerator<Buffer> {
  const end = start + opened.bytes;
  let at = start;
  let failures = 0;
  for (let body: Readable | undefined = opened.body; ; body = undefined) {
    try {
      body ??= (await bucket.get(name, { start: at, end: end - 1 }, opened.etag))?.body;
      if (!body) throw new Error('the object was removed while it was being read');
      for await (const chunk of body as AsyncIterable<Buffer>) {
        at += chunk.length;
        failures = 0;
        yield chunk;
      }
      if (at === end) return;
      throw new Error('the response ended early');
    } catch (error) {
      failures += 1;
      if (at >= end || failures === attemptsMax) throw error;
    }
  }
}

/** Yields the last chunk only if the whole has the hash, so that no reader gets all of the wrong bytes. */
async function* verified(chunks: AsyncIterable<Buffer>, sha256: string): AsyncGenerator<Buffer> {
  const hash = createHash('sha256');
  let previous: Buffer | undefined;
  for await (const chunk of chunks) {
    if (previous) yield previous;
    hash.update(chunk);
    previous = chunk;
  }
  if (hash.digest('hex') !== sha256) throw new WrongBytes('an object’s contents do not match its hash');
  if (previous) yield previous;
}

type ReadOptions = {
  range?: { start: number; end: number } | undefined;
  sha256Of?: (opened: Opened) => string | undefined;
};

/** A stream of an object or a range; `undefined` if there is none. `sha256Of` returns the hash of the whole object. */
export async function openObject(
  bucket: Bucket,
  name: string,
  { range, sha256Of }: ReadOptions = {},
): Promise<(Opened & { content: Readable }) | undefined> {
  const opened = await bucket.get(name, range);
  if (!opened) return undefined;
  const bytes = resumed(bucket, name, opened, range?.start ?? 0);
  const sha256 = range ? undefined : sha256Of?.(opened);
  const content = Readable.from(sha256 ? verified(bytes, sha256) : bytes, { objectMode: false });
  // A reader that stops also releases the connection.
  content.once('close', () => opened.body.destroy());
  return { ...opened, content };
}
