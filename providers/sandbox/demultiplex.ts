/** Splits the single stream in which a container engine sends stdout and stderr. */
import { once } from 'node:events';
import type { Duplex, Writable } from 'node:stream';

/**
 * Each frame is 8 bytes of header (stream, 0, 0, 0, length as 32 bits big-endian) and its payload; see the Engine API,
 * "Attach to a container". The library's own demultiplexer ignores backpressure and would buffer the output in memory.
 */
export function demultiplex(wire: Duplex, stdout: Writable, stderr: Writable): void {
  // Readers get the error when they read. A connection that breaks after a reader has finished must not end the
  // process.
  for (const stream of [stdout, stderr]) stream.on('error', () => {});
  pump(wire, stdout, stderr).then(
    () => {
      stdout.end();
      stderr.end();
    },
    (error) => {
      stdout.destroy(error);
      stderr.destroy(error);
    },
  );
}

async function pump(wire: Duplex, stdout: Writable, stderr: Writable): Promise<void> {
  const header = Buffer.alloc(8);
  let headerBytes = 0;
  let left = 0;
  let target = stderr;
  for await (const chunk of wire.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    let at = 0;
    while (at < chunk.length) {
      if (left === 0) {
        const taken = chunk.copy(header, headerBytes, at, at + 8 - headerBytes);
        headerBytes += taken;
        at += taken;
        if (headerBytes < 8) continue;
        headerBytes = 0;
        left = header.readUInt32BE(4);
        target = header[0] === 1 ? stdout : stderr;
      } else {
        const part = chunk.subarray(at, at + left);
        at += part.length;
        left -= part.length;
        await write(target, part);
      }
    }
  }
  if (headerBytes > 0 || left > 0) throw new Error('The container’s output stream ended unexpectedly.');
}

async function write(target: Writable, part: Buffer): Promise<void> {
  // A closed reader accepts nothing more, and the other one must still be served.
  if (target.destroyed || target.write(part)) return;
  const waited = new AbortController();
  const { signal } = waited;
  // The abort removes the other listener; otherwise each wait would leave one behind.
  await Promise.race([once(target, 'drain', { signal }), once(target, 'close', { signal })]).finally(() =>
    waited.abort(),
  );
}
