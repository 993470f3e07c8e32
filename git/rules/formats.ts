/** Which formats each place of a site takes, judged by the bytes and not by the name alone. */
import { fileTypeFromBuffer } from 'file-type';
import type { Repository } from '../../db/states.ts';
import { extensionOf, isWithin } from './names.ts';
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
// Served as it is from the site's own address: nothing that a browser would run.
const publicFiles: Place = { name: 'public/', extensions: ['pdf'] };

/** The place that decides on the formats of this path; undefined where any file may be. */
export function placeOf(repository: Repository, path: string): Place | undefined {
  if (repository === 'content') return content;
  if (isWithin('src/assets', path)) return assets;
  return isWithin('public', path) ? publicFiles : undefined;
}

export function takesName(place: Place, path: string): boolean {
  return place.extensions.includes(extensionOf(path));
}

export type FormatFault = { code: 'format_not_allowed' | 'invalid_file'; what: string; remedy: string };

/** file-type's word for a format, by the extension a file of it may carry. */
const sameFormat: Record<string, string> = { jpeg: 'jpg', tiff: 'tif', apng: 'png' };
const formatOf = (extension: string) => sameFormat[extension] ?? extension;

// Enough to see what a file is, even behind large metadata.
const headBytesMax = 1_048_576;

/** Judges a file by its bytes. `content` may be left half read. Call it only for names that the place takes. */
export async function formatFault(
  place: Place,
  path: string,
  content: AsyncIterable<Buffer>,
): Promise<FormatFault | undefined> {
  const extension = extensionOf(path);
  if (texts.includes(extension)) return textFault(extension, content);
  if (extension === 'svg') return drawingFault(content);
  const found = await fileTypeFromBuffer(await head(content));
  const format = found && formatOf(found.ext);
  if (format === formatOf(extension)) return undefined;
  if (found === undefined || !place.extensions.includes(formatOf(found.ext))) {
    const bytes = found ? `of the format ${found.ext}` : 'of no format that is known';
    return {
      code: 'format_not_allowed',
      what: `is called .${extension}, but its bytes are ${bytes}, and ${place.name} does not take those`,
      remedy: `Use one of: ${place.extensions.join(', ')}.`,
    };
  }
  return {
    code: 'invalid_file',
    what: `is called .${extension}, but its bytes are ${found.ext}`,
    remedy: `Rename it to .${found.ext}, or convert it.`,
  };
}

async function head(content: AsyncIterable<Buffer>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of content) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes >= headBytesMax) break;
  }
  return Buffer.concat(chunks);
}

async function textFault(extension: string, content: AsyncIterable<Buffer>): Promise<FormatFault | undefined> {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  try {
    let hasNul = false;
    for await (const chunk of content) {
      decoder.decode(chunk, { stream: true });
      hasNul ||= chunk.includes(0);
    }
    decoder.decode();
    if (!hasNul) return undefined;
  } catch {
    // Falls through: not UTF-8.
  }
  return {
    code: 'invalid_file',
    what: `is called .${extension}, but its bytes are not text in UTF-8`,
    remedy: 'Save it as UTF-8 text, or leave it out.',
  };
}

async function drawingFault(content: AsyncIterable<Buffer>): Promise<FormatFault | undefined> {
  const fault = await svgFault(content);
  if (!fault) return undefined;
  return fault.kind === 'script'
    ? {
        code: 'format_not_allowed',
        what: `${fault.what}, and an SVG here may hold nothing that can run`,
        remedy: 'Take that out of the SVG (an optimiser such as SVGO does), or use a PNG.',
      }
    : { code: 'invalid_file', what: `is called .svg, but ${fault.what}`, remedy: 'Export it again as plain SVG.' };
}
