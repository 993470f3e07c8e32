/** The formats that each folder of a site accepts, checked by the bytes and not by the name alone. */
import { fileTypeFromBuffer } from 'file-type';
import { extensionOf, isWithin } from '#providers/paths.ts';
import type { Repository } from '#rules/states.ts';
import { structureFault } from './structure.ts';
import { svgFault } from './svg.ts';

const images = ['jpg', 'jpeg', 'png', 'webp', 'avif', 'gif'];
const texts = ['md', 'mdx', 'json', 'yaml', 'yml', 'toml', 'csv'];

/** A part of a site that takes some formats only. */
export type Place = { name: string; extensions: readonly string[] };

const content: Place = { name: 'the content repository', extensions: [...texts, ...images] };
const assets: Place = {
  name: 'src/assets/',
  extensions: [...images, 'tif', 'tiff', 'svg', 'woff2', 'woff', 'ttf', 'otf'],
};
export const assetExtensions = assets.extensions;
// Served as it is from the site's own address: nothing that a browser would run.
const publicFiles: Place = { name: 'public/', extensions: ['pdf'] };

/** The place that decides on the formats of this path; undefined where any file may be. */
export function placeOf(repository: Repository, path: string): Place | undefined {
  if (repository === 'content') return content;
  if (isWithin('src/assets', path)) return assets;
  return isWithin('public', path) ? publicFiles : undefined;
}

/** Whether a file at this path counts towards the daily allowance: those under src/assets/ and public/, but for credits of photos. */
export function isCounted(repository: Repository, path: string): boolean {
  const place = placeOf(repository, path);
  return (place === assets || place === publicFiles) && !isCredit(path);
}

export function acceptsName(place: Place, path: string): boolean {
  return place.extensions.includes(extensionOf(path)) || (place === assets && isCredit(path));
}

/** Whose a stock photo is, in a file beside it: `hero.jpg.credit.json`. */
const isCredit = (path: string) => /[^/]\.credit\.json$/i.test(path);
const creditBytesMax = 4096;

export type FormatFault = { code: 'format_not_allowed' | 'invalid_file'; what: string; remedy: string };

/** file-type's word for a format, by the extension a file of it may carry. */
const sameFormat: Record<string, string> = { jpeg: 'jpg', tiff: 'tif', apng: 'png' };
const formatOf = (extension: string) => sameFormat[extension] ?? extension;

// Enough to see what a file is, even behind large metadata.
const headBytesMax = 1_048_576;

/**
 * Judges a file by its bytes. What no place's list names is `format_not_allowed`; a good format under another one's name is
 * `invalid_file`. `content` may be left half read. Call it only for names that the place takes.
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
  // However it comes in pieces, the same bytes are looked at.
  while (bytesIn(head) < headBytesMax) {
    const next = await chunks.next();
    if (next.done) break;
    head.push(next.value);
  }
  const whole = replay(head, chunks);
  if (texts.includes(extension)) {
    return (await isText(whole)) ? undefined : wrongBytes(place, extension, head, 'are not text in UTF-8');
  }
  if (extension === 'svg') {
    const fault = await svgFault(whole);
    if (fault?.kind === 'script') return executable(fault.what);
    return fault && wrongBytes(place, extension, head, fault.what);
  }
  const found = await fileTypeFromBuffer(Buffer.concat(head));
  if (!found || formatOf(found.ext) !== formatOf(extension)) {
    return wrongBytes(place, extension, head, 'have no known format');
  }
  const fault = await structureFault(formatOf(found.ext), whole);
  return fault === undefined ? undefined : malformed(extension, fault);
}

/** What was read of a file, then the rest of it. */
async function* replay(head: readonly Buffer[], rest: AsyncIterator<Buffer>): AsyncGenerator<Buffer> {
  yield* head;
  for (let next = await rest.next(); !next.done; next = await rest.next()) yield next.value;
}

function malformed(extension: string, fault: string): FormatFault {
  const what = `is called .${extension}, but its bytes ${fault}`;
  return { code: 'invalid_file', what, remedy: 'Open it in a suitable program and export it again.' };
}

async function creditFault(content: AsyncIterable<Buffer>): Promise<FormatFault | undefined> {
  const remedy = `A credit is a JSON object of at most ${creditBytesMax} bytes.`;
  const head: Buffer[] = [];
  for await (const chunk of content)
    if (bytesIn([...head, chunk]) <= creditBytesMax) head.push(chunk);
    else return { code: 'format_not_allowed', what: 'exceeds the size limit for a credit', remedy };
  try {
    const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(head)));
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return undefined;
  } catch {}
  return { code: 'format_not_allowed', what: 'is called .credit.json but is not a JSON object', remedy };
}

const bytesIn = (chunks: readonly Buffer[]) => chunks.reduce((sum, chunk) => sum + chunk.length, 0);

/** `otherwise` says what is wrong with the bytes where they are not of a format that has a name. */
async function wrongBytes(
  place: Place,
  extension: string,
  head: readonly Buffer[],
  otherwise: string,
): Promise<FormatFault> {
  const found = await fileTypeFromBuffer(Buffer.concat(head));
  const isTaken = found !== undefined && place.extensions.includes(formatOf(found.ext));
  // For a text that is none, a guess at some other format misleads more than it tells.
  const isGuess = !isTaken && (texts.includes(extension) || extension === 'svg');
  const named = isGuess ? undefined : found?.ext;
  return {
    code: isTaken ? 'invalid_file' : 'format_not_allowed',
    what: `is called .${extension}, but its bytes ${named ? `are of the format ${named}` : otherwise}`,
    remedy: isTaken ? `Rename it to .${named}, or convert it.` : `Use one of: ${place.extensions.join(', ')}.`,
  };
}

function executable(what: string): FormatFault {
  return {
    code: 'format_not_allowed',
    what: `${what}, and an SVG must not contain anything executable`,
    remedy: 'Remove that from the SVG (an optimiser such as SVGO does it), or use a PNG.',
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
