/** A script or style that pages load from us: read once, compressed once, known by its bytes. */
import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';

export type PageFile = { bytes: Buffer; gzip: Buffer; etag: string; type: string; hash: string };

export const fileTypes = { script: 'text/javascript; charset=utf-8', style: 'text/css; charset=utf-8' } as const;

/** `hash` fits into a file's name; `etag` is a strong entity tag (RFC 9110 section 8.8.3). */
export function pageFile(content: Buffer | string, type: keyof typeof fileTypes): PageFile {
  const bytes = Buffer.from(content);
  const hash = createHash('sha256').update(bytes).digest('hex').slice(0, 32);
  return { bytes, gzip: gzipSync(bytes, { level: 9 }), etag: `"${hash}"`, type: fileTypes[type], hash };
}
