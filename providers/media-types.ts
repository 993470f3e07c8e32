/** Media types by file name, for serving and for deciding on compression. */
import { Mime } from 'mime/lite';
import other from 'mime/types/other.js';
import standard from 'mime/types/standard.js';

const types = new Mime(standard, other);

/** Files that protocols name without an extension: apps of Apple, Matrix, and the AT Protocol. */
const withoutExtension: ReadonlyMap<string, string> = new Map([
  ['apple-app-site-association', 'application/json'],
  ['.well-known/apple-app-site-association', 'application/json'],
  ['.well-known/matrix/client', 'application/json'],
  ['.well-known/matrix/server', 'application/json'],
  ['.well-known/atproto-did', 'text/plain'],
]);

/** The media type for the name's extension, with `charset=utf-8` for text. */
export function contentTypeOf(path: string): string {
  const type = types.getType(path) ?? withoutExtension.get(path) ?? 'application/octet-stream';
  return isText(type) ? `${type}; charset=utf-8` : type;
}

/** Whether brotli and gzip make files of this name smaller: text, and formats that are not compressed themselves. */
export function isCompressible(path: string): boolean {
  const type = types.getType(path);
  return (
    type !== null &&
    (isText(type) ||
      /^(font\/(ttf|otf)|image\/(svg\+xml|bmp|x-icon|vnd\.microsoft\.icon)|application\/wasm)$/.test(type))
  );
}

function isText(type: string): boolean {
  return /^text\/|[/+](json|xml|javascript|manifest\+json|ld\+json)$/.test(type);
}
