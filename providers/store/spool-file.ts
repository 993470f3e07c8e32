/** Buffers a large file on this machine's disk. The file is unlinked at once, so it disappears with the process. */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Readable } from 'node:stream';

// A part of an upload is in memory until it is accepted; S3 allows 10,000 parts for one object.
export const partBytes = 8 * 1024 * 1024;

export async function spoolFile(dir: string, content: Readable) {
  await mkdir(dir, { recursive: true, mode: 0o700 });
  const path = join(dir, randomUUID());
  const file = await open(path, 'wx+', 0o600);
  try {
    await unlink(path);
    const hash = createHash('sha256');
    let bytes = 0;
    for await (const chunk of content as AsyncIterable<Buffer>) {
      hash.update(chunk);
      await file.appendFile(chunk);
      bytes += chunk.length;
    }
    return { sha256: hash.digest('hex'), bytes, parts: () => partsOf(file, bytes), close: () => file.close() };
  } catch (error) {
    await file.close();
    throw error;
  }
}

async function* partsOf(file: Awaited<ReturnType<typeof open>>, bytes: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes; at += partBytes) {
    const part = Buffer.alloc(Math.min(partBytes, bytes - at));
    const { bytesRead } = await file.read(part, 0, part.length, at);
    if (bytesRead !== part.length) throw new Error('the spooled file is incomplete');
    yield part;
  }
}
