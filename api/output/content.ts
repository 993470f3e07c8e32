/** Checks, while a file streams, that its contents match its name. The bytes are untrusted: nothing is decoded or unpacked. */
import { fileTypeFromBuffer } from 'file-type';
import { svgFault } from '#git/rules/svg.ts';
import { contentTypeOf } from '#providers/media-types.ts';
import { extensionOf, printable } from '#providers/paths.ts';

export type ContentValidator = {
  /** Receives the next bytes; returns the fault as soon as it is known. */
  write(chunk: Buffer): string | undefined;
  end(): Promise<string | undefined>;
};

// Enough to recognise a file, even behind large metadata.
const headBytesMax = 256 * 1024;
const svgBytesMax = 8 * 1024 * 1024;
const pixelsMax = 100_000_000;

/** Formats that a name declares, by file-type's names. Other names may hold anything. */
const promised: Record<string, readonly string[]> = {
  jpg: ['jpg'],
  jpeg: ['jpg'],
  png: ['png', 'apng'],
  apng: ['png', 'apng'],
  gif: ['gif'],
  webp: ['webp'],
  avif: ['avif'],
  tif: ['tif'],
  tiff: ['tif'],
  bmp: ['bmp'],
  ico: ['ico', 'png'],
  woff: ['woff'],
  woff2: ['woff2'],
  ttf: ['ttf'],
  otf: ['otf'],
  pdf: ['pdf'],
  wasm: ['wasm'],
};

const programs = new Set([
  'exe',
  'elf',
  'macho',
  'deb',
  'rpm',
  'apk',
  'class',
  'crx',
  'swf',
  'lnk',
  'jar',
  'xpi',
  'cab',
  'dmg',
  'alias',
]);
const pageInside = /<(script|html|!doctype html|iframe|\?php|svg)[\s>/]|javascript:/i;
const longestMark = 32;

/** The format that the name declares; names that declare the same share a verdict. */
export function declaredTypeOf(path: string): string {
  const extension = extensionOf(path);
  if (extension === 'svg' || Object.hasOwn(promised, extension)) return extension;
  return isTextName(path) ? 'text' : 'nothing';
}

export function validateContent(path: string): ContentValidator {
  const extension = extensionOf(path);
  const head = keepHead(extension === 'svg' ? svgBytesMax + 1 : headBytesMax);
  const reads = Object.hasOwn(promised, extension) ? lookForPages() : isTextName(path) ? decode() : undefined;
  return {
    write(chunk) {
      head.write(chunk);
      return reads?.write(chunk);
    },
    async end() {
      return reads?.end() ?? (await wholeFileFault(extension, head.bytes()));
    },
  };
}

function isTextName(path: string): boolean {
  return contentTypeOf(path).endsWith('; charset=utf-8');
}

async function wholeFileFault(extension: string, head: Buffer): Promise<string | undefined> {
  if (extension === 'svg') {
    if (head.length > svgBytesMax) return 'is an SVG larger than 8 MiB';
    const fault = await svgFault(once(head));
    if (!fault) return undefined;
    return fault.kind === 'script'
      ? `${fault.what}, but an SVG must not contain anything executable`
      : `has the extension .svg, but its contents ${fault.what}`;
  }
  const found = (await fileTypeFromBuffer(head).catch(() => undefined))?.ext;
  if (found && programs.has(found)) return 'is an executable file, which sites cannot contain';
  const formats = Object.hasOwn(promised, extension) ? promised[extension] : undefined;
  if (!formats) return undefined;
  if (!found || !formats.includes(found)) {
    return `has the extension .${extension}, but its contents are in ${found ? `the format ${printable(found)}` : 'an unknown format'}`;
  }
  return pixelsOf(found, head) > pixelsMax ? 'is an image of more than 100 million pixels' : undefined;
}

async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

/** As the header claims; 0 if the format stores it elsewhere. */
function pixelsOf(format: string, head: Buffer): number {
  if ((format === 'png' || format === 'apng') && head.length >= 24)
    return head.readUInt32BE(16) * head.readUInt32BE(20);
  if (format === 'gif' && head.length >= 10) return head.readUInt16LE(6) * head.readUInt16LE(8);
  if (format === 'bmp' && head.length >= 26) return Math.abs(head.readInt32LE(18)) * Math.abs(head.readInt32LE(22));
  return 0;
}

function keepHead(bytesMax: number) {
  const chunks: Buffer[] = [];
  let bytes = 0;
  return {
    write(chunk: Buffer) {
      if (bytes < bytesMax) chunks.push(chunk.subarray(0, bytesMax - bytes));
      bytes += chunk.length;
    },
    bytes: () => Buffer.concat(chunks),
  };
}

/** Text is served as UTF-8, so it has to be UTF-8. */
function decode() {
  const decoder = new TextDecoder('utf-8', { fatal: true });
  const fault = 'is a text file, but its encoding is not UTF-8';
  return {
    write(chunk: Buffer): string | undefined {
      if (chunk.includes(0)) return fault;
      try {
        decoder.decode(chunk, { stream: true });
        return undefined;
      } catch {
        return fault;
      }
    },
    end(): string | undefined {
      try {
        decoder.decode();
        return undefined;
      } catch {
        return fault;
      }
    },
  };
}

/** A picture that is also a page needs a place that interprets it as one. */
function lookForPages() {
  let before = '';
  return {
    write(chunk: Buffer): string | undefined {
      const text = before + chunk.toString('latin1');
      before = text.slice(-longestMark);
      return pageInside.test(text) ? 'contains HTML or a script' : undefined;
    },
    end: (): string | undefined => undefined,
  };
}
