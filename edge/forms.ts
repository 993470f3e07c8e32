/** The forms a file is served in, with the header fields of each made once. */
import type { ManifestFile } from '../providers/manifest.ts';
import { contentTypeOf } from '../providers/media-types.ts';
import type { Encoding } from '../providers/store/store.ts';
import type { Head } from './answer.ts';
import { type BytesKey, bytesKey } from './bytes.ts';
import { isHashedAsset } from './files.ts';

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

export type ServedFile = {
  file: ManifestFile;
  contentType: string;
  plain: Form;
  br: Form | undefined;
  gzip: Form | undefined;
};

const revalidated = 'public, max-age=0, must-revalidate';
const immutable = 'public, max-age=31536000, immutable';

const served = new WeakMap<ManifestFile, ServedFile>();

export function servedFile(file: ManifestFile): ServedFile {
  const made = served.get(file);
  if (made) return made;
  const contentType = contentTypeOf(file.path);
  const form = (encoding: Encoding) => makeForm(file, contentType, encoding);
  const fresh = {
    file,
    contentType,
    plain: form('identity'),
    br: file.encodings?.includes('br') ? form('br') : undefined,
    gzip: file.encodings?.includes('gzip') ? form('gzip') : undefined,
  };
  served.set(file, fresh);
  return fresh;
}

/** The best form among those accepted. */
export function pickForm(from: ServedFile, accepted: readonly Encoding[]): Form {
  for (const encoding of accepted) {
    const form = encoding === 'identity' ? from.plain : from[encoding];
    if (form) return form;
  }
  return from.plain;
}

function makeForm(file: ManifestFile, contentType: string, encoding: Encoding): Form {
  const etag = encoding === 'identity' ? `"${file.sha256}"` : `"${file.sha256}-${encoding}"`;
  const cacheControl = isHashedAsset(file.path) ? immutable : revalidated;
  const vary = file.encodings?.length ? ['vary', 'accept-encoding'] : [];
  const unchangedFields = ['etag', etag, 'cache-control', cacheControl, ...vary];
  const fields = ['content-type', contentType, ...unchangedFields, 'accept-ranges', 'bytes'];
  fields.push('x-content-type-options', 'nosniff');
  if (encoding !== 'identity') fields.push('content-encoding', encoding);
  const unchanged = { status: 304, fields: unchangedFields };
  return { encoding, etag, key: bytesKey(file.sha256, encoding), fields, whole: undefined, unchanged };
}
