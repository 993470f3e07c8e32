/** The formats that each folder of a site accepts, verified by the bytes and not only by the extension. */
import { fileTypeFromBuffer } from 'file-type';
import { settingsFile } from '#providers/build-settings.ts';
import { extensionOf, isWithin } from '#providers/paths.ts';
import type { Repository } from '#rules/states.ts';
import { settingsFault } from './settings.ts';
import { type StructureFault, structureFault } from './structure.ts';
import { svgFault } from './svg.ts';
import { textFault } from './texts.ts';

const images = ['jpg', 'jpeg', 'png', 'webp', 'avif', 'gif'];
const styles = ['css', 'scss'];
const texts = ['md', 'mdx', 'mdoc', 'json', 'yaml', 'yml', 'toml', 'csv'];

/** A folder of a site that accepts only some formats. */
export type Place = { name: string; extensions: readonly string[] };

const content: Place = { name: 'the content repository', extensions: [...texts, ...images] };
/** Pictures and fonts: what a person can send by an upload link. */
export const assetExtensions: readonly string[] = [...images, 'tif', 'tiff', 'svg', 'woff2', 'woff', 'ttf', 'otf'];
/** Icons and style sheets are imported too. A build reads or compiles them, and serves none as a page. */
const assets: Place = { name: 'src/assets/', extensions: [...assetExtensions, 'ico', 'css', 'scss'] };
// Served unchanged from the site's own address, so they must contain nothing that a browser executes.
const publicFiles: Place = { name: 'public/', extensions: ['pdf'] };
const staticFiles: Place = {
  name: 'src/static/',
  extensions: 'ico png jpg jpeg webp avif gif svg txt webmanifest json csv ics woff2 mp4 webm mp3 vtt pdf'.split(' '),
};
const settings: Place = { name: settingsFile, extensions: ['toml'] };
const wellKnown = 'src/static/.well-known';

/** The folder whose formats apply to this path; undefined where any file is accepted. */
export function placeOf(repository: Repository, path: string): Place | undefined {
  if (repository === 'content') return content;
  if (path === settingsFile) return settings;
  if (isWithin('src/assets', path)) return assets;
  if (isWithin('src/static', path)) return staticFiles;
  return isWithin('public', path) ? publicFiles : undefined;
}

/** Whether the platform alone writes this file: it proves with it that a domain is the owner's (RFC 8555, section 8.3). */
export function isChallenge(path: string): boolean {
  return isWithin(`${wellKnown}/acme-challenge`, path);
}

/**
 * Whether a file at this path counts towards the daily quota: files in src/assets/, src/static/ and public/, except
 * credits of photos.
 */
export function isCounted(repository: Repository, path: string): boolean {
  const place = placeOf(repository, path);
  return place !== undefined && place !== content && place !== settings && !isCredit(path);
}

export function acceptsName(place: Place, path: string): boolean {
  if (place.extensions.includes(extensionOf(path))) return true;
  // Many protocols (RFC 8615) name a file of JSON or text without an extension.
  if (place === staticFiles) return extensionOf(path) === '' && isWithin(wellKnown, path) && !/\/\.[^/]*$/.test(path);
  return place === assets && isCredit(path);
}

/** How to fix a file that the folder does not accept. */
export function placeRemedy(place: Place, path: string): string {
  if (place === publicFiles && acceptsName(staticFiles, path.replace(/^[^/]+/, 'src/static')))
    return 'Put it in src/static/: its files are served at the same addresses as those of public/.';
  return `Use one of the formats that ${place.name} accepts: ${place.extensions.join(', ')}.`;
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

/** Browsers take a PNG for an icon, and many a `favicon.ico` is one. Where a build reads it, it has to have its own name. */
const isIconOf = (place: Place, found: string, extension: string) =>
  place === staticFiles && extension === 'ico' && formatOf(found) === 'png';

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
  if (place === settings) return await settingsFault(content);
  const head: Buffer[] = [];
  const chunks = content[Symbol.asyncIterator]();
  // The same bytes are examined however they are divided into chunks.
  while (bytesIn(head) < headBytesMax) {
    const next = await chunks.next();
    if (next.done) break;
    head.push(next.value);
  }
  const whole = replay(head, chunks);
  if (isLfsPointer(head)) return lfsFault;
  if (place === staticFiles && isStaticText(extension)) {
    const fault = await textFault(extension, whole);
    return fault === undefined ? undefined : wrongBytes(place, extension, head, fault);
  }
  if (texts.includes(extension) || styles.includes(extension)) {
    return (await isText(whole)) ? undefined : wrongBytes(place, extension, head, 'are not UTF-8 text');
  }
  if (extension === 'svg') {
    const fault = await svgFault(whole);
    if (fault?.kind === 'script') return executable(fault.what);
    return fault && wrongBytes(place, extension, head, fault.what);
  }
  const found = await detect(head);
  if (!found || !(formatOf(found.ext) === formatOf(extension) || isIconOf(place, found.ext, extension))) {
    return wrongBytes(place, extension, head, 'are not in a known format');
  }
  const fault = await structureFault(formatOf(found.ext), whole);
  return fault && malformed(extension, fault);
}

const isStaticText = (extension: string) => ['', 'txt', 'webmanifest', 'json', 'csv', 'ics', 'vtt'].includes(extension);
const isPlainText = (extension: string) => [texts, styles].flat().includes(extension) || isStaticText(extension);

/** The format by the bytes. An AVIF may have the general brand of its container and name its own among the others. */
async function detect(head: readonly Buffer[]) {
  const bytes = Buffer.concat(head);
  const found = await fileTypeFromBuffer(bytes);
  if (found?.ext !== 'heic' || bytes.toString('latin1', 8, 12) !== 'mif1') return found;
  const brands: string[] = bytes.toString('latin1', 16, Math.min(bytes.readUInt32BE(0), 256)).match(/.{4}/gs) ?? [];
  const isAvif = brands.includes('avif') && !brands.some((brand) => /^he[iv]/.test(brand));
  return isAvif ? { ext: 'avif', mime: 'image/avif' } : found;
}

const lfsFault: FormatFault = {
  code: 'invalid_file',
  what: 'is a Git LFS pointer, not the file itself',
  remedy: 'Run "git lfs migrate export --everything --include=*" and push again: the platform has no Git LFS.',
};

/** Git LFS, specification, "The Pointer". */
function isLfsPointer(head: readonly Buffer[]): boolean {
  const text = Buffer.concat(head).toString('latin1', 0, 64);
  return text.startsWith('version https://git-lfs.github.com/spec/') && bytesIn(head) < 1024;
}

const binary = /\.(jpe?g|png|webp|avif|gif|tiff?|ico|woff2?|ttf|otf|pdf|mp[34]|webm|mov|m4[av]|ogg|wav|zip|glb|bin)$/i;

/** Whether a file outside all places may be a pointer of Git LFS, which would be published as text. */
export const mayBePointer = (path: string): boolean => binary.test(path);

export async function pointerFault(content: AsyncIterable<Buffer>): Promise<FormatFault | undefined> {
  const head: Buffer[] = [];
  for await (const chunk of content) {
    head.push(chunk);
    if (bytesIn(head) >= 1024) break;
  }
  return isLfsPointer(head) ? lfsFault : undefined;
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
  const found = await detect(head);
  const isTaken = found !== undefined && place.extensions.includes(formatOf(found.ext));
  // If a text file contains no text, the name of a guessed format would mislead.
  const isGuess = !isTaken && (isPlainText(extension) || extension === 'svg');
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
