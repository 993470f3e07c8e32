/** The forms a file is served in, with the header fields of each made once. */

import type { Head } from '#edge/http/http1-head.ts';
import type { ManifestFile } from '#providers/manifest.ts';
import { contentTypeOf } from '#providers/media-types.ts';
import type { Encoding } from '#providers/store/store.ts';
import { type BytesKey, bytesKey } from './blob-cache.ts';
import { isHashedAsset, pageAddressOf } from './files.ts';

/** One representation of a file (RFC 9110 section 3.2): its own tag, its own length. Fields are names and values in turn. */
export type Form = {
  encoding: Encoding;
  etag: string;
  key: BytesKey;
  /** Fields of an answer 200, without the length. */
  fields: string[];
  /** Head of an answer 200, once the length is known. */
  whole: Head | undefined;
  /** Head of an answer 304. */
  unchanged: Head;
};

/** A file with those of its forms that were asked for. */
export type ServedFile = {
  file: ManifestFile;
  forms: Partial<Record<Encoding, Form>>;
  /** The address of the page that it is, if it is one. */
  page: string | undefined;
};

const revalidated = 'public, max-age=0, must-revalidate';
const immutable = 'public, max-age=31536000, immutable';

export function servedFile(file: ManifestFile): ServedFile {
  return { file, forms: {}, page: pageAddressOf(file.path) };
}

export function plainForm(from: ServedFile): Form {
  from.forms.identity ??= makeForm(from.file, 'identity');
  return from.forms.identity;
}

/** The best form among those accepted. */
export function pickForm(from: ServedFile, accepted: readonly Encoding[]): Form {
  for (const encoding of accepted) {
    if (encoding === 'identity') break;
    const made = from.forms[encoding];
    if (made) return made;
    if (!from.file.encodings?.includes(encoding)) continue;
    const form = makeForm(from.file, encoding);
    from.forms[encoding] = form;
    return form;
  }
  return plainForm(from);
}

function makeForm(file: ManifestFile, encoding: Encoding): Form {
  const etag = encoding === 'identity' ? `"${file.sha256}"` : `"${file.sha256}-${encoding}"`;
  const cacheControl = isHashedAsset(file.path) ? immutable : revalidated;
  const vary = file.encodings?.length ? ['vary', 'accept-encoding'] : [];
  const unchangedFields = ['etag', etag, 'cache-control', cacheControl, ...vary];
  const fields = ['content-type', contentTypeOf(file.path), ...unchangedFields, 'accept-ranges', 'bytes'];
  fields.push('x-content-type-options', 'nosniff');
  if (encoding !== 'identity') fields.push('content-encoding', encoding);
  const unchanged = { status: 304, fields: unchangedFields };
  return { encoding, etag, key: bytesKey(file.sha256, encoding), fields, whole: undefined, unchanged };
}
