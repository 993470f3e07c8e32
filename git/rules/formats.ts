/** The formats that each folder of a site accepts, verified by the bytes and not only by the extension. */
import { fileTypeFromBuffer } from 'file-type';
import { extensionOf, isWithin } from '#providers/paths.ts';
import type { Repository } from '#rules/states.ts';
import { type StructureFault, structureFault } from './structure.ts';
import { svgFault } from './svg.ts';

const images = ['jpg', 'jpeg', 'png', 'webp', 'avif', 'gif'];
const texts = ['md', 'mdx', 'json', 'yaml', 'yml', 'toml', 'csv'];

/** A folder of a site that accepts only some formats. */
export type Place = { name: string; extensions: readonly string[] };

const content: Place = { name: 'the content repository', extensions: [...texts, ...images] };
const assets: Place = {
  name: 'src/assets/',
  extensions: [...images, 'tif', 'tiff', 'svg', 'woff2', 'woff', 'ttf', 'otf'],
};
export const assetExtensions = assets.extensions;
// Served unchanged from the site's own address, so it must contain nothing that a browser executes.
const publicFiles: Place = { name: 'public/', extensions: ['pdf'] };

/** The folder whose formats apply to this path; undefined where any file is accepted. */
export function placeOf(repository: Repository, path: string): Place | undefined {
  if (repository === 'content') return content;
  if (isWithin('src/assets', path)) return assets;
  return isWithin('public', path) ? publicFiles : undefined;
}

/**
 * Whether a file at this path counts towards the daily quota: files in src/assets/ and public/, except credits of
 * photos.
 */
export function isCounted(repository: Repository, path: string): boolean {
  const place = placeOf(repository, path);
  return (place === assets || place === publicFiles) && !isCredit(path);
}

export function acceptsName(place: Place, path: string): boolean {
  return place.extensions.includes(extensionOf(path)) || (place === assets && isCredit(path));
}

/** The credit of a stock photo, in a file beside it: `hero.jpg.credit.json`. */
const isCredit = (path: string) => /[^/]\.credit\.json$/i.test(path);
const creditBytesMax = 4096;

export type FormatFault = {
  code: 'format_not_allowed' | 'invalid_file';
  what: string;
  remedy: string;
  reason?: 'executable' | StructureFault['reason'];
};

/** file-type's name of a format, by another common extension. */
const sameFormat: Record<string, string> = { jpeg: 'jpg', tiff: 'tif', apng: 'png' };
const formatOf = (extension: string) => sameFormat[extension] ?? extension;

// Enough to detect the format, even behind large metadata.
const headBytesMax = 1_048_576;

/**
 * Validates a file by its bytes. A format that the folder does not accept is `format_not_allowed`; an accepted format
 * with a wrong extension is `invalid_file`. `content` may be left unread in part. Call it only for names that the
 * folder accepts.
 */
export async function formatFault(
  place: Place,
  path: string,
  content: AsyncIterable<Buffer>,
): Promise<FormatFault | undefined> {
  const extension = extensionOf(path);
  if (place === assets && isCredit(path)) return await creditFault(content);
  const head: Buffer[] = [];
  const chunks = content[Symbol.asyncIterator]();
  // The same bytes are examined however they are divided into chunks.
  while (bytesIn(head) < headBytesMax) {
    const next = await chunks.next();
    if (next.done) break;
    head.push(next.value);
  }
  const whole = replay(head, chunks);
  if (texts.includes(extension)) {
    return (await isText(whole)) ? undefined : wrongBytes(place, extension, head, 'are not UTF-8 text');
  }
  if (extension === 'svg') {
    const fault = await svgFault(whole);
    if (fault?.kind === 'script') return executable(fault.what);
    return fault && wrongBytes(place, extension, head, fault.what);
  }
  const found = await fileTypeFromBuffer(Buffer.concat(head));
  if (!found || formatOf(found.ext) !== formatOf(extension)) {
    return wrongBytes(place, extension, head, 'are not in a known format');
  }
  const fault = await structureFault(formatOf(found.ext), whole);
  return fault && malformed(extension, fault);
}

/** The chunks that were read already, then the rest. */
async function* replay(head: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function malformed(extension: string, { what: fault, reason }: StructureFault): FormatFault {
  const what = `has the extension .${extension}, but its contents ${fault}`;
  return { code: 'invalid_file', what, remedy: 'Open the file in an editor and export it again.', reason };
}

async function creditFault(content: AsyncIterable<Buffer>): Promise<FormatFault | undefined> {
  const remedy = `A photo credit must be a JSON object of at most ${creditBytesMax} bytes.`;
  const head: Buffer[] = [];
  for await (const chunk of content)
    if (bytesIn([...head, chunk]) <= creditBytesMax) head.push(chunk);
    else return { code: 'format_not_allowed', what: 'exceeds the size limit for a photo credit', remedy };
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(head)));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {}
  return { code: 'format_not_allowed', what: 'has the extension .credit.json, but is not a JSON object', remedy };
}

const bytesIn = (chunks: readonly Buffer[]) => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

/** `otherwise` describes the fault if the bytes have no known format. */
async function wrongBytes(
  place: Place,
  extension: string,
  head: readonly Buffer[],
  otherwise: string,
): Promise<FormatFault> {
  const found = await fileTypeFromBuffer(Buffer.concat(head));
  const isTaken = found !== undefined && place.extensions.includes(formatOf(found.ext));
  // If a text file contains no text, the name of a guessed format would mislead.
  const isGuess = !isTaken && (texts.includes(extension) || extension === 'svg');
  const named = isGuess ? undefined : found?.ext;
  return {
    code: isTaken ? 'invalid_file' : 'format_not_allowed',
    what: `has the extension .${extension}, but its contents ${named ? `are in ${named.toUpperCase()} format` : otherwise}`,
    remedy: isTaken
      ? `Change the file’s extension to .${named}, or convert the file.`
      : `Use one of these formats: ${place.extensions.join(', ')}.`,
  };
}

function executable(what: string): FormatFault {
  return {
    code: 'format_not_allowed',
    reason: 'executable',
    what: `${what}, but an SVG must not contain anything executable`,
    remedy: 'Remove it from the SVG (an optimiser such as SVGO can do this), or use a PNG.',
  };
}

async function isText(content: AsyncIterable<Buffer>): Promise<boolean> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    for await (const chunk of content) {
      if (chunk.includes(0)) return false;
      decoder.decode(chunk, { stream: true });
    }
    decoder.decode();
    return true;
  } catch {
    return false;
  }
}
