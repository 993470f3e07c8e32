/**
 * What comes in on stdin: parts, one after the other, each in frames. A frame is four bytes of length (big-endian) and as many bytes;
 * length 0 ends the part. The parts, in this order:
 *
 *   order    one JSON `{ "siteUrl": …, "endOfLog": … }`
 *   cache    a tar of what an earlier build of this site left, or nothing
 *   source   the site as a tar
 *   held     a line for each file that need not come out again: its SHA-256 in hex
 */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

const names = ['order', 'cache', 'source', 'held'];

/** Takes the stream apart. Each part is a stream of its own, to be read in their order; a stream that breaks off breaks them all. */
export function readParts(stream) {
  const parts = Object.fromEntries(names.map((name) => [name, new PassThrough()]));
  for (const part of Object.values(parts)) part.on('error', () => {}); // Whoever reads it meets it.
  pump(stream, Object.values(parts)).catch((error) => {
    for (const part of Object.values(parts)) part.destroy(error);
  });
  return parts;
}

async function pump(stream, parts) {
  const header = Buffer.alloc(4);
  let held = 0;
  let left = 0;
  let at = 0;
  for await (const chunk of stream) {
    let from = 0;
    while (from < chunk.length && at < parts.length) {
      if (left === 0) {
        const taken = chunk.copy(header, held, from, from + 4 - held);
        held += taken;
        from += taken;
        if (held < 4) continue;
        held = 0;
        left = header.readUInt32BE();
        if (left === 0) parts[at++].end();
      } else {
        const bytes = chunk.subarray(from, from + left);
        from += bytes.length;
        left -= bytes.length;
        if (!parts[at].write(bytes)) await once(parts[at], 'drain');
      }
    }
  }
  if (at < parts.length) throw new Error('What came in broke off.');
}
