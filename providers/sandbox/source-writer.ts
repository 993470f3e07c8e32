/** Writes the input of a sandbox: parts in frames, as defined in `providers/sandbox/image/runner/parts.mjs`. */
import type { BuildRequest } from './sandbox.ts';

/** The input of a build could not be read: our fault, not the site's. */
export class SourceFailed extends Error {}

/** The whole input, as chunks in order. Throws SourceFailed. */
export async function* writeSource(request: BuildRequest, endOfLog: string): AsyncGenerator<Buffer> {
  try {
    yield* frames([Buffer.from(JSON.stringify({ siteUrl: request.siteUrl, endOfLog }))]);
    yield* frames(request.cache ?? []);
    yield* frames(request.source);
    yield* frames(heldLines(request));
  } catch (cause) {
    throw new SourceFailed('The build’s input could not be read.', { cause });
  }
}

async function* heldLines({ held }: BuildRequest): AsyncGenerator<Buffer> {
  yield Buffer.from([...((await held) ?? new Map()).keys()].join('\n'));
}

async function* frames(content: AsyncIterable<Buffer> | Iterable<Buffer>): AsyncGenerator<Buffer> {
  for await (const bytes of content) {
    if (bytes.length === 0) continue;
    yield lengthOf(bytes.length);
    yield bytes;
  }
  yield lengthOf(0);
}

function lengthOf(bytes: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(bytes);
  return header;
}
