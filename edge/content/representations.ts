/** Representations of a file, with header fields that are created once. */

import type { Head } from '#edge/http/http1-head.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { contentTypeOf } from '#providers/media-types.ts';
import type { Encoding } from '#providers/store/store.ts';
import { type BlobKey, blobKey } from './blob-cache.ts';
import { isHashedAsset, pageAddressOf } from './files.ts';

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
};

const revalidated = 'public, max-age=0, must-revalidate';
const immutable = 'public, max-age=31536000, immutable';

export function servedFile(file: ManifestFile): ServedFile {
  return { file, representations: {}, page: pageAddressOf(file.path) };
}

export function identityOf(from: ServedFile): Representation {
  from.representations.identity ??= createRepresentation(from.file, 'identity');
  return from.representations.identity;
}

/** The best accepted representation. */
export function selectRepresentation(from: ServedFile, accepted: readonly Encoding[]): Representation {
  for (const encoding of accepted) {
    if (encoding === 'identity') break;
    const made = from.representations[encoding];
    if (made) return made;
    if (!from.file.encodings?.includes(encoding)) continue;
    const representation = createRepresentation(from.file, encoding);
    from.representations[encoding] = representation;
    return representation;
  }
  return identityOf(from);
}

function createRepresentation(file: ManifestFile, encoding: Encoding): Representation {
  const etag = encoding === 'identity' ? `"${file.sha256}"` : `"${file.sha256}-${encoding}"`;
  const cacheControl = isHashedAsset(file.path) ? immutable : revalidated;
  const vary = file.encodings?.length ? ['vary', 'accept-encoding'] : [];
  const unchangedFields = ['etag', etag, 'cache-control', cacheControl, ...vary];
  const fields = ['content-type', contentTypeOf(file.path), ...unchangedFields, 'accept-ranges', 'bytes'];
  fields.push('x-content-type-options', 'nosniff');
  if (encoding !== 'identity') fields.push('content-encoding', encoding);
  const unchanged = { status: 304, fields: unchangedFields };
  return { encoding, etag, key: blobKey(file.sha256, encoding), fields, whole: undefined, unchanged };
}
