/**
 * The input on stdin: consecutive parts, each in frames. A frame is four bytes of length (big-endian) and that many bytes;
 * length 0 ends the part. The parts, in this order:
 *
 *   order    one JSON `{ "siteUrl": …, "endOfLog": … }`
 *   cache    a tar with the cache of an earlier build of this site, or nothing
 *   source   the site as a tar
 *   held     a line for each file that the store already has: its SHA-256 in hex
 */

/**
 * Reads as many bytes as are asked for. Throws if there are no more.
 * @param {AsyncIterable<Buffer>} stream
 */
export function readCounted(stream) {
  const chunks = stream[Symbol.asyncIterator]();
  /** @type {Buffer} */
  let rest = Buffer.alloc(0);
  /** @param {number} wanted */
  return async (wanted) => {
    const parts = [rest];
    for (let length = rest.length; length < wanted; length += parts.at(-1)?.length ?? 0) {
      const { done, value } = await chunks.next();
      if (done) throw new Error('The input is truncated.');
      parts.push(value);
    }
    const all = parts.length > 1 ? Buffer.concat(parts) : rest;
    rest = all.subarray(wanted);
    return all.subarray(0, wanted);
  };
}

/**
 * Splits the input into one stream per part, each of which has to be read to its end before the next.
 * @param {import('node:stream').Readable} stream
 */
export function readParts(stream) {
  const bytes = readCounted(stream);
  async function* part() {
    for (let length = await bytes(4); length.readUInt32BE() > 0; length = await bytes(4))
      yield await bytes(length.readUInt32BE());
  }
  return { order: part(), cache: part(), source: part(), held: part() };
}
