/** Responses as data: decided here, sent by the protocol's sender. */
import type { Readable } from 'node:stream';
import { acceptedEncodings } from '#edge/http/encodings.ts';
import type { Head } from '#edge/http/http1-head.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { andThen, type MaybePromise } from '#edge/maybe-async.ts';
import { hrefOf } from '#edge/routing/paths.ts';
import type { Store } from '#providers/store/store.ts';
import { type ByteRange, evaluateConditions } from '#rules/http-conditions.ts';
import { type BlobCache, cachedBytesMax } from './blob-cache.ts';
import { ownPage, type PageName } from './pages.ts';
import { identityOf, type Representation, type ServedFile, selectRepresentation } from './representations.ts';

/** Senders omit the body for HEAD. */
export type EdgeResponse = {
  head: Head;
  body: Buffer | LargeBody | undefined;
  /** For a page of a live site: the site, and the page's address. Views are counted by these. */
  siteId?: string;
  page?: string;
  /** Whether it is one of the edge's own pages. */
  isOwn?: true;
  /** Whether to send Strict-Transport-Security. */
  isStrict?: boolean;
};

/** A year, for this host alone (RFC 6797). */
export const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const;

/** A body that is too large for memory, opened when it is sent. The length of a compressed one is unknown. */
export type LargeBody = { open(): Promise<Readable>; bytes: number | undefined };

export function isLarge(answer: EdgeResponse): answer is EdgeResponse & { body: LargeBody } {
  return answer.body !== undefined && !Buffer.isBuffer(answer.body);
}

export type Source = { blobs: BlobCache; store: Store };

/** The store lacks a blob of a manifest, or has only a part of it. */
export class MissingBlob extends Error {}

/** Responds with a file: 200, 206, 304, 412 or 416, by the request's conditions (RFC 9110 section 13.2.2). */
export function answerFile(
  source: Source,
  { method, fields }: VisitorRequest,
  file: ServedFile,
): MaybePromise<EdgeResponse> {
  // Ranges select from the identity encoding, so that resuming does not depend on supported compressions.
  const ranged = fields.range !== undefined && method === 'GET';
  const representation = ranged
    ? identityOf(file)
    : selectRepresentation(file, acceptedEncodings(fields.acceptEncoding));
  const conditions = ranged || fields.range === undefined ? fields : { ...fields, range: undefined };
  const outcome = evaluateConditions(conditions, representation.etag, file.file.bytes);
  if (outcome.status === 304) return { head: representation.unchanged, body: undefined };
  if (outcome.status === 412) return answerEmpty(412);
  if (outcome.status === 416) return answerEmpty(416, ['content-range', `bytes */${file.file.bytes}`]);
  if (outcome.status === 206) return answerRange(source, file, outcome.range);
  return answerWhole(source, file, representation, 200);
}

/** Responds with the site's 404 page. Conditions do not apply to missing resources. */
export function answerMissing(
  source: Source,
  { fields }: VisitorRequest,
  page: ServedFile,
): MaybePromise<EdgeResponse> {
  return answerWhole(source, page, selectRepresentation(page, acceptedEncodings(fields.acceptEncoding)), 404);
}

function answerWhole(
  source: Source,
  file: ServedFile,
  representation: Representation,
  status: 200 | 404,
): MaybePromise<EdgeResponse> {
  if (file.file.bytes > cachedBytesMax) return answerLarge(source, file, representation, status);
  return andThen(source.blobs.cached(representation.key) ?? source.blobs.load(representation.key), (body) => {
    if (body !== undefined && (representation !== identityOf(file) || body.length === file.file.bytes))
      return { head: headOf(representation, status, body.length), body };
    if (representation === identityOf(file))
      throw new MissingBlob(`blob ${representation.key} is missing or incomplete`);
    return answerWhole(source, file, identityOf(file), status);
  });
}

function headOf(representation: Representation, status: 200 | 404, bytes: number): Head {
  if (status === 200 && representation.whole) return representation.whole;
  const head = { status, fields: [...representation.fields, 'content-length', String(bytes)] };
  if (status === 200) representation.whole = head;
  return head;
}

function answerLarge(
  source: Source,
  file: ServedFile,
  representation: Representation,
  status: 200 | 404,
): EdgeResponse {
  const range = representation === identityOf(file) ? { start: 0, end: file.file.bytes - 1 } : undefined;
  // The length of a compressed blob is unknown: it is sent in chunks.
  const length = range ? ['content-length', String(file.file.bytes)] : [];
  return {
    head: { status, fields: [...representation.fields, ...length] },
    body: largeBody(source, representation, range),
  };
}

function answerRange(source: Source, file: ServedFile, range: ByteRange): MaybePromise<EdgeResponse> {
  const representation = identityOf(file);
  const extent = `bytes ${range.start}-${range.end}/${file.file.bytes}`;
  const length = String(range.end - range.start + 1);
  const head = { status: 206, fields: [...representation.fields, 'content-range', extent, 'content-length', length] };
  if (file.file.bytes > cachedBytesMax) return { head, body: largeBody(source, representation, range) };
  return andThen(source.blobs.cached(representation.key) ?? source.blobs.load(representation.key), (body) => {
    if (body?.length !== file.file.bytes) throw new MissingBlob(`blob ${representation.key} is missing or incomplete`);
    return { head, body: body.subarray(range.start, range.end + 1) };
  });
}

function largeBody({ store }: Source, representation: Representation, range: ByteRange | undefined): LargeBody {
  return {
    bytes: range && range.end - range.start + 1,
    async open() {
      const content = await store.read(representation.key.slice(0, 64), representation.encoding, range);
      if (!content) throw new MissingBlob(`blob ${representation.key} is missing`);
      return content;
    },
  };
}

/** Redirects to another path of the site. Revalidated each time: the next version may have the page here. */
export function answerRedirect(path: string, query: string): EdgeResponse {
  const fields = ['location', hrefOf(path) + query, 'cache-control', 'public, max-age=0, must-revalidate'];
  return { head: { status: 308, fields: [...fields, 'content-length', '0'] }, body: undefined };
}

/** Responds with one of the edge's own pages. */
export function answerPage(name: PageName, as: 'html' | 'text'): EdgeResponse {
  return ownPage(name, as);
}

function answerEmpty(status: number, fields: string[] = []): EdgeResponse {
  return {
    head: { status, fields: [...fields, 'cache-control', 'no-store', 'content-length', '0'] },
    body: undefined,
  };
}
