/** Reads the output of a sandbox. The bytes are hostile: they are validated as data and never unpacked to a disk. */

import { type Readable, Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Extract, extract } from 'tar-stream';
import { z } from 'zod';
import { outputFault } from '#providers/paths.ts';
import type { LimitName } from '#rules/limit-names.ts';
import { type Entry, passCache } from './cache.ts';
import type { BuildLimits, BuildRequest, BuildTimes } from './sandbox.ts';

const verdictBytesMax = 65_536;

// A path of 1,024 bytes with JSON escapes, and a hash.
const heldLineBytesMax = 6 * 1_024 + 80;

// Bytes around the content of an entry, its path included; and bytes outside all entries.
const headBytesMax = 8_192;
const strayBytesMax = 1_048_576;

const heldSchema = z.array(z.tuple([z.string(), z.string()]));
const verdictSchema = z.discriminatedUnion('status', [
  z.object({ status: z.literal('built'), ms: z.record(z.string(), z.number()).default({}) }),
  z.object({ status: z.literal('failed'), message: z.string(), outOfMemory: z.boolean() }),
]);

/** The output breaks a rule. The message is for the site's owner. */
export class OutputRefused extends Error {
  readonly code: 'build_failed' | 'plan_limit';
  /** The limit that it exceeds. */
  readonly limit: LimitName | undefined;
  constructor(code: 'build_failed' | 'plan_limit', message: string, limit?: LimitName) {
    super(message);
    this.code = code;
    this.limit = limit;
  }
}

/** The consumer of the files failed, not the site. */
export class ConsumerFailed extends Error {}

/** The runner's result of the build. A stream that ends without one broke off. */
export type Verdict = { status: 'built'; ms: BuildTimes } | { status: 'failed'; message: string; outOfMemory: boolean };

export type Output = ReturnType<typeof openOutput>;

/**
 * Reads the runner's tar. `readFiles` reads up to the verdict: it passes `dist/…` files to `onFile` one at a time,
 * passes files that are already stored to `onHeld`, and checks the sizes in the headers against the limits. Then
 * `readCache` passes on the remaining entries. Neither waits for the end of the stream.
 */
export function openOutput(stream: Readable, limits: BuildLimits) {
  const entries = extract();
  const room = { left: strayBytesMax };
  pipeline(stream, limitBytes(room), entries).catch(() => {}); // The readers get the same error.
  const reading = readEntries(entries, room);

  async function readFiles({
    onFile,
    onHeld,
    held,
  }: Pick<BuildRequest, 'onFile' | 'onHeld' | 'held'>): Promise<Verdict> {
    const tally = { files: 0, folders: 0, bytes: 0, seen: new Set<string>() };
    for (let next = await reading.next(); !next.done; next = await reading.next()) {
      const entry = next.value;
      const { name, type } = entry.header;
      if (name === 'verdict.json') return await readJson(entry, verdictSchema, verdictBytesMax);
      if (name === 'held.json') {
        const bytesMax = limits.outputFilesMax * heldLineBytesMax + 2;
        const offered = await held;
        for (const [path, sha256] of await readJson(entry, heldSchema, bytesMax))
          onHeld?.(acceptHeld(path, sha256, offered?.get(sha256), tally, limits));
      } else if (type === 'directory') acceptFolder(name, tally, limits);
      else await deliverFile(entry, acceptFile(entry, tally, limits), onFile);
      entry.resume();
    }
    throw new Error('The sandbox output ended without a result.');
  }

  return {
    readFiles,
    readCache: (onCache: NonNullable<BuildRequest['onCache']>, folder?: string) => passCache(reading, onCache, folder),
    /** Discards the rest. Otherwise it would block the log, which may use the same connection. */
    close: () => void entries.destroy(),
  };
}

/** Messages of tar-stream for bytes that are not a tar. It has another message for a stream that ends early. */
const invalidTar = /^(Invalid tar header|Invalid header|Header exceeds max size)/;

/** Fails a stream that exceeds its room: endless headers would keep this process busy. */
function limitBytes(room: { left: number }): Transform {
  return new Transform({
    transform(chunk: Buffer, _encoding, done) {
      room.left -= chunk.length;
      done(room.left < 0 ? unreadable() : null, chunk);
    },
  });
}

/** Only the runner writes to the stream unless site code broke into it, so invalid data is the site's fault. */
async function* readEntries(entries: Extract, room: { left: number }): AsyncGenerator<Entry> {
  try {
    for await (const entry of entries) {
      const { type, size = 0 } = entry.header;
      room.left += (type === 'directory' ? 0 : size) + headBytesMax;
      yield entry;
    }
  } catch (error) {
    if (!(error instanceof Error && invalidTar.test(error.message))) throw error;
    throw unreadable();
  }
}

function unreadable(): OutputRefused {
  return new OutputRefused('build_failed', 'The build’s output could not be read.');
}

type OutputTally = { files: number; folders: number; bytes: number; seen: Set<string> };

function acceptFolder(name: string, tally: OutputTally, limits: BuildLimits): void {
  const folder = name.replace(/\/$/, '');
  if (folder !== 'dist') checkPath(folder);
  tally.folders += 1;
  if (tally.folders > limits.outputFilesMax) throw tooManyFiles(limits);
}

/** Returns the file as its consumer sees it. Throws OutputRefused. */
function acceptFile(entry: Entry, tally: OutputTally, limits: BuildLimits): { path: string; bytes: number } {
  const { name, type, size } = entry.header;
  const path = checkPath(name);
  if (type !== 'file' && type !== 'contiguous-file') {
    throw new OutputRefused('build_failed', `The build wrote ${path}, which is a ${type}, not a regular file.`);
  }
  const bytes = size ?? 0;
  if (!Number.isSafeInteger(bytes) || bytes < 0)
    throw new OutputRefused('build_failed', `The build reported an invalid size for ${path}.`);
  count(path, bytes, tally, limits);
  return { path, bytes };
}

/** A file that is stored already. Only offered hashes count: no site can get another site's bytes by their hash. */
function acceptHeld(name: string, sha256: string, bytes: number | undefined, tally: OutputTally, limits: BuildLimits) {
  if (bytes === undefined) throw unreadable();
  const path = checkPath(name);
  count(path, bytes, tally, limits);
  return { path, sha256 };
}

function count(path: string, bytes: number, tally: OutputTally, limits: BuildLimits): void {
  if (tally.seen.has(path)) throw new OutputRefused('build_failed', `The build wrote ${path} twice.`);
  tally.seen.add(path);
  tally.files += 1;
  tally.bytes += bytes;
  if (tally.files > limits.outputFilesMax) throw tooManyFiles(limits);
  if (bytes > limits.fileBytesMax) {
    throw new OutputRefused(
      'plan_limit',
      `${path} exceeds the size limit for a file (${inMegabytes(limits.fileBytesMax)}).`,
      'file_bytes',
    );
  }
  if (tally.bytes > limits.outputBytesMax) {
    const size = inMegabytes(limits.outputBytesMax);
    throw new OutputRefused('plan_limit', `The built site exceeds the size limit for a site (${size}).`, 'site_bytes');
  }
}

function tooManyFiles(limits: BuildLimits): OutputRefused {
  return new OutputRefused(
    'plan_limit',
    `The built site contains more files than the limit (${limits.outputFilesMax}).`,
    'site_files',
  );
}

/** Returns the path below `dist/`. Throws OutputRefused on a name that another system could read differently. */
function checkPath(name: string): string {
  const refuse = (what: string) =>
    new OutputRefused(
      'build_failed',
      `The build wrote a file named ${JSON.stringify(name.slice(0, 200))}, which ${what}.`,
    );
  if (!name.startsWith('dist/')) throw refuse('is outside the output folder');
  const path = name.slice('dist/'.length);
  const fault = outputFault(path);
  if (fault) throw refuse(fault.what);
  return path;
}

/** Passes a file on and counts its actual bytes: a stream that ends early never becomes a short file. */
async function deliverFile(
  entry: Entry,
  file: { path: string; bytes: number },
  onFile: BuildRequest['onFile'],
): Promise<void> {
  // A stream that ended before a listener was attached emits nothing.
  if (entry.destroying || entry.destroyed) throw new Error('The sandbox output ended unexpectedly.');
  let came = 0;
  const counted = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      came += chunk.length;
      done(came > file.bytes ? new Error('The sandbox sent more bytes than declared in the header.') : null, chunk);
    },
    flush(done) {
      done(came === file.bytes ? null : new Error('The sandbox sent fewer bytes than declared in the header.'));
    },
  });
  const passed = pipeline(entry, counted);
  passed.catch(() => {});
  try {
    await onFile({ ...file, content: counted });
  } catch (cause) {
    // A broken sandbox also fails the consumer, so check which of the two failed first.
    if (entry.destroyed && came < file.bytes) throw cause;
    throw new ConsumerFailed('An output file could not be stored.', { cause });
  }
  counted.resume();
  await passed;
}

/** Site code may have broken into the stream, so the runner's messages are validated like files. */
async function readJson<T>(entry: Entry, schema: z.ZodType<T>, bytesMax: number): Promise<T> {
  const parts: Buffer[] = [];
  let bytes = 0;
  for await (const part of entry as AsyncIterable<Buffer>) {
    bytes += part.length;
    if (bytes <= bytesMax) parts.push(part);
  }
  try {
    return schema.parse(JSON.parse(Buffer.concat(parts).toString()));
  } catch {
    throw unreadable();
  }
}

function inMegabytes(bytes: number): string {
  return bytes >= 1_048_576 ? `${Math.round(bytes / 104_857.6) / 10} MiB` : `${bytes} bytes`;
}
