/** Representations of a file, with header fields that are created once. */

import type { Head } from '#edge/http/http1-head.ts';
import { bytesOfFields, type HeaderSet } from '#providers/headers.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { contentTypeOf } from '#providers/media-types.ts';
import type { Encoding } from '#providers/store/store.ts';
import { type BlobKey, blobKey } from './blob-cache.ts';
import { cappedForPages } from './cache-control.ts';
import { isHashedAsset, isHtml, pageAddressOf } from './files.ts';

/** A representation of a file (RFC 9110 section 3.2), with its own entity tag and length. Fields are alternating names and values. */
export type Representation = {
  encoding: Encoding;
  etag: string;
  key: BlobKey;
  /** Fields of a 200 response, without the length. */
  fields: string[];
  /** Head of a 200 response, once the length is known. */
  whole: Head | undefined;
  /** Head of a 304 response. */
  unchanged: Head;
};

/** A file with its representations that were requested. */
export type ServedFile = {
  file: ManifestFile;
  representations: Partial<Record<Encoding, Representation>>;
  /** Its address, if it is a page. */
  page: string | undefined;
  /** Header fields that the site sets for the address. */
  headers: ReadonlyMap<string, string>;
  /** Whether the address is the file's own, and not that of a rewrite or a missing page. */
  isOwnAddress: boolean;
};

/** How a file is served at an address. */
export type Serving = { headers?: HeaderSet | undefined; isOwnAddress?: boolean };

const revalidated = 'public, max-age=0, must-revalidate';
const immutable = 'public, max-age=31536000, immutable';

const noHeaders: ReadonlyMap<string, string> = new Map();

export function servedFile(file: ManifestFile, { headers, isOwnAddress = true }: Serving = {}): ServedFile {
  const fields = headers?.fields ?? noHeaders;
  return { file, representations: {}, page: pageAddressOf(file.path), headers: fields, isOwnAddress };
}

/** Approximate bytes of memory: about the size of a file with the heads of one or two representations. */
export function weightOfServed({ headers }: ServedFile): number {
  return 2_048 + 4 * bytesOfFields(headers);
}

export function identityOf(from: ServedFile): Representation {
  from.representations.identity ??= createRepresentation(from, 'identity');
  return from.representations.identity;
}

/** The best accepted representation. */
export function selectRepresentation(from: ServedFile, accepted: readonly Encoding[]): Representation {
  for (const encoding of accepted) {
    if (encoding === 'identity') break;
    const made = from.representations[encoding];
    if (made) return made;
    if (!from.file.encodings?.includes(encoding)) continue;
    const representation = createRepresentation(from, encoding);
    from.representations[encoding] = representation;
    return representation;
  }
  return identityOf(from);
}

function createRepresentation(from: ServedFile, encoding: Encoding): Representation {
  const { file } = from;
  const etag = encoding === 'identity' ? `"${file.sha256}"` : `"${file.sha256}-${encoding}"`;
  const vary = file.encodings?.length ? ['vary', 'accept-encoding'] : [];
  // Also with a 304: a cache updates what it has stored (RFC 9111 section 4.3.4).
  const unchangedFields = ['etag', etag, 'cache-control', cacheControlOf(from), ...vary, ...otherFields(from)];
  const fields = ['content-type', contentTypeOf(file.path), ...unchangedFields, 'accept-ranges', 'bytes'];
  if (!from.headers.has('x-content-type-options')) fields.push('x-content-type-options', 'nosniff');
  if (encoding !== 'identity') fields.push('content-encoding', encoding);
  const unchanged = { status: 304, fields: unchangedFields };
  return { encoding, etag, key: blobKey(file.sha256, encoding), fields, whole: undefined, unchanged };
}

function cacheControlOf({ file, headers, isOwnAddress }: ServedFile): string {
  const set = headers.get('cache-control');
  if (set !== undefined) return isHtml(file.path) ? cappedForPages(set) : set;
  return isOwnAddress && isHashedAsset(file.path) ? immutable : revalidated;
}

/** The fields that the site sets, without cache-control. */
export function otherFields({ headers }: ServedFile): string[] {
  return [...headers].filter(([name]) => name !== 'cache-control').flat();
}
