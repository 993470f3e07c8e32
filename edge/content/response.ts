/** What a visitor gets, as data: decided here, sent by whoever holds the connection. */
import type { Readable } from 'node:stream';
import { type ByteRange, matchesStrongly, matchesWeakly, readRange } from '#edge/http/conditions.ts';
import { acceptedEncodings } from '#edge/http/encodings.ts';
import type { Head } from '#edge/http/http1-head.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { type Later, whenKnown } from '#edge/maybe-async.ts';
import { hrefOf } from '#edge/routing/paths.ts';
import type { Store } from '#providers/store/store.ts';
import { type Bytes, heldBytesMax } from './blob-cache.ts';
import { ownPage, type PageName } from './pages.ts';
import { type Form, pickForm, plainForm, type ServedFile } from './representations.ts';

/** A sender leaves the body out where the request is HEAD. */
export type Answer = {
  head: Head;
  body: Buffer | LargeBody | undefined;
  /** Where it is a page of a live site: whose, and the page's address. What is counted as a view is among these. */
  siteId?: string;
  page?: string;
  /** Whether it is a page of the edge's own. */
  isOwn?: true;
  /** Whether browsers are to come to this host over TLS alone from now on. */
  isStrict?: boolean;
};

/** A year, for this host alone (RFC 6797). */
export const strictTransport = ['strict-transport-security', 'max-age=31536000'] as const;

/** What is too large for memory, opened when it is sent. Its length is not known beforehand when it is compressed. */
export type LargeBody = { open(): Promise<Readable>; bytes: number | undefined };

export type Source = { bytes: Bytes; store: Store };

/** The store does not hold what a manifest names, or holds less of it. */
export class MissingBytes extends Error {}

/** Answers a file with 200, 206, 304, 412 or 416, as the request's conditions have it (RFC 9110 section 13.2.2). */
export function answerFile(source: Source, { method, fields }: VisitorRequest, file: ServedFile): Later<Answer> {
  // Ranges are of the plain form: what a client resumes should not depend on what it can decompress.
  const ranged = fields.range !== undefined && method === 'GET';
  const form = ranged ? plainForm(file) : pickForm(file, acceptedEncodings(fields.acceptEncoding));
  if (fields.ifMatch !== undefined && !matchesStrongly(fields.ifMatch, form.etag)) return answerEmpty(412);
  if (fields.ifNoneMatch !== undefined && matchesWeakly(fields.ifNoneMatch, form.etag))
    return { head: form.unchanged, body: undefined };
  if (ranged && (fields.ifRange === undefined || fields.ifRange === form.etag)) {
    const range = readRange(fields.range as string, file.file.bytes);
    if (range === 'unsatisfiable') return answerEmpty(416, ['content-range', `bytes */${file.file.bytes}`]);
    if (range) return answerRange(source, file, range);
  }
  return answerWhole(source, file, form, 200);
}

/** Answers the site's own page for what it does not have. Without conditions: those are for what exists. */
export function answerMissing(source: Source, { fields }: VisitorRequest, page: ServedFile): Later<Answer> {
  return answerWhole(source, page, pickForm(page, acceptedEncodings(fields.acceptEncoding)), 404);
}

function answerWhole(source: Source, file: ServedFile, form: Form, status: 200 | 404): Later<Answer> {
  if (file.file.bytes > heldBytesMax) return answerLarge(source, file, form, status);
  return whenKnown(source.bytes.held(form.key) ?? source.bytes.load(form.key), (body) => {
    if (body !== undefined && (form !== plainForm(file) || body.length === file.file.bytes))
      return { head: headOf(form, status, body.length), body };
    if (form === plainForm(file)) throw new MissingBytes(`blob ${form.key} is missing or not whole`);
    return answerWhole(source, file, plainForm(file), status);
  });
}

function headOf(form: Form, status: 200 | 404, bytes: number): Head {
  if (status === 200 && form.whole) return form.whole;
  const head = { status, fields: [...form.fields, 'content-length', String(bytes)] };
  if (status === 200) form.whole = head;
  return head;
}

function answerLarge(source: Source, file: ServedFile, form: Form, status: 200 | 404): Answer {
  const range = form === plainForm(file) ? { start: 0, end: file.file.bytes - 1 } : undefined;
  // The length of a compressed form is not known beforehand: it goes out in chunks.
  const length = range ? ['content-length', String(file.file.bytes)] : [];
  return { head: { status, fields: [...form.fields, ...length] }, body: largeBody(source, form, range) };
}

function answerRange(source: Source, file: ServedFile, range: ByteRange): Later<Answer> {
  const form = plainForm(file);
  const extent = `bytes ${range.start}-${range.end}/${file.file.bytes}`;
  const length = String(range.end - range.start + 1);
  const head = { status: 206, fields: [...form.fields, 'content-range', extent, 'content-length', length] };
  if (file.file.bytes > heldBytesMax) return { head, body: largeBody(source, form, range) };
  return whenKnown(source.bytes.held(form.key) ?? source.bytes.load(form.key), (body) => {
    if (body?.length !== file.file.bytes) throw new MissingBytes(`blob ${form.key} is missing or not whole`);
    return { head, body: body.subarray(range.start, range.end + 1) };
  });
}

function largeBody({ store }: Source, form: Form, range: ByteRange | undefined): LargeBody {
  return {
    bytes: range && range.end - range.start + 1,
    async open() {
      const content = await store.read(form.key.slice(0, 64), form.encoding, range);
      if (!content) throw new MissingBytes(`blob ${form.key} is missing`);
      return content;
    },
  };
}

/** Sends a visitor to another path of the same site. Not for ever: the next version may have the page where it was asked for. */
export function answerRedirect(path: string, query: string): Answer {
  const fields = ['location', hrefOf(path) + query, 'cache-control', 'public, max-age=0, must-revalidate'];
  return { head: { status: 308, fields: [...fields, 'content-length', '0'] }, body: undefined };
}

/** Answers with one of the edge's own pages. */
export function answerPage(name: PageName, as: 'html' | 'text'): Answer {
  return ownPage(name, as);
}

function answerEmpty(status: number, fields: string[] = []): Answer {
  return {
    head: { status, fields: [...fields, 'cache-control', 'no-store', 'content-length', '0'] },
    body: undefined,
  };
}
