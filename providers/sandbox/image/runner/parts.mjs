/**
 * The input on stdin: consecutive parts, each in frames. A frame is four bytes of length (big-endian) and that many bytes;
 * length 0 ends the part. The parts, in this order:
 *
 *   order    one JSON `{ "siteUrl": …, "endOfLog": … }`
 *   cache    a tar with the cache of an earlier build of this site, or nothing
 *   source   the site as a tar
 *   held     a line for each file that the store already has: its SHA-256 in hex
 */
import { once } from 'node:events';
import { PassThrough } from 'node:stream';

const names = /** @type {const} */ (['order', 'cache', 'source', 'held']);

/**
 * Splits the input into one stream per part, to be read in order. If the input is truncated, all of them fail.
 * @param {import('node:stream').Readable} stream
 * @returns {Record<(typeof names)[number], PassThrough>}
 */
export function readParts(stream) {
  const parts = {
    order: new PassThrough(),
    cache: new PassThrough(),
    source: new PassThrough(),
    held: new PassThrough(),
  };
  for (const part of Object.values(parts)) part.on('error', () => {}); // Its reader gets the error.
  pump(
    stream,
    names.map((name) => parts[name]),
  ).catch((error) => {
    for (const part of Object.values(parts)) part.destroy(error);
  });
  return parts;
}

/**
 * @param {import('node:stream').Readable} stream
 * @param {PassThrough[]} parts
 */
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
        if (left === 0) parts[at++]?.end();
      } else {
        const bytes = chunk.subarray(from, from + left);
        from += bytes.length;
        left -= bytes.length;
        const part = /** @type {PassThrough} */ (parts[at]);
        if (!part.write(bytes)) await once(part, 'drain');
      }
    }
  }
  if (at < parts.length) throw new Error('The input is truncated.');
}
