/** Writes answers. What is held in memory goes out in one piece; what is larger is streamed from the store. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import type { Store } from '../providers/store/store.ts';
import { type Bytes, heldBytesMax } from './bytes.ts';
import { type ByteRange, matchesStrongly, matchesWeakly, readRange } from './conditions.ts';
import { acceptedEncodings } from './encodings.ts';
import { type Form, pickForm, type ServedFile } from './forms.ts';
import { ownPage, type PageName } from './pages.ts';
import { hrefOf } from './paths.ts';
import type { RequestFields } from './request.ts';

export type Source = { bytes: Bytes; store: Store };
export type Exchange = { req: IncomingMessage; res: ServerResponse; fields: RequestFields };

/** The store does not hold what a manifest names, or holds less of it. */
export class MissingBytes extends Error {}

/** Answers a file with 200, 206, 304, 412 or 416, as the request's conditions have it (RFC 9110 section 13.2.2). */
export async function answerFile(source: Source, exchange: Exchange, file: ServedFile): Promise<void> {
  const { req, res, fields } = exchange;
  // Ranges are of the plain form: what a client resumes should not depend on what it can decompress.
  const ranged = fields.range !== undefined && req.method === 'GET';
  const form = ranged ? file.plain : pickForm(file, acceptedEncodings(fields.acceptEncoding));
  if (fields.ifMatch !== undefined && !matchesStrongly(fields.ifMatch, form.etag)) return answerEmpty(res, 412);
  if (fields.ifNoneMatch !== undefined && matchesWeakly(fields.ifNoneMatch, form.etag)) {
    res.writeHead(304, form.unchangedFields).end();
    return;
  }
  if (ranged && (fields.ifRange === undefined || fields.ifRange === form.etag)) {
    const range = readRange(fields.range as string, file.file.bytes);
    if (range === 'unsatisfiable') return answerEmpty(res, 416, ['content-range', `bytes */${file.file.bytes}`]);
    if (range) return answerRange(source, exchange, file, range);
  }
  await answerWhole(source, exchange, file, form, 200);
}

/** Answers the site's own page for what it does not have. Without conditions: those are for what exists. */
export async function answerMissing(source: Source, exchange: Exchange, page: ServedFile): Promise<void> {
  const form = pickForm(page, acceptedEncodings(exchange.fields.acceptEncoding));
  await answerWhole(source, exchange, page, form, 404);
}

async function answerWhole(
  source: Source,
  exchange: Exchange,
  file: ServedFile,
  form: Form,
  status: 200 | 404,
): Promise<void> {
  if (file.file.bytes > heldBytesMax) return streamWhole(source, exchange, file, form, status);
  const body = source.bytes.held(form.key) ?? (await source.bytes.load(form.key));
  if (body === undefined || (form === file.plain && body.length !== file.file.bytes)) {
    if (form === file.plain) throw new MissingBytes(`blob ${form.key} is missing or not whole`);
    return answerWhole(source, exchange, file, file.plain, status);
  }
  form.fieldsWithLength ??= [...form.fields, 'content-length', String(body.length)];
  exchange.res.writeHead(status, form.fieldsWithLength).end(body);
}

async function streamWhole(
  source: Source,
  exchange: Exchange,
  file: ServedFile,
  form: Form,
  status: 200 | 404,
): Promise<void> {
  // The length of a compressed form is not known beforehand: it goes out in chunks.
  const length = form === file.plain ? ['content-length', String(file.file.bytes)] : [];
  const range = form === file.plain ? { start: 0, end: file.file.bytes - 1 } : undefined;
  await stream(source, exchange, form, status, [...form.fields, ...length], range);
}

async function answerRange(source: Source, exchange: Exchange, file: ServedFile, range: ByteRange): Promise<void> {
  const form = file.plain;
  const extent = `bytes ${range.start}-${range.end}/${file.file.bytes}`;
  const fields = [...form.fields, 'content-range', extent, 'content-length', String(range.end - range.start + 1)];
  if (file.file.bytes > heldBytesMax) return stream(source, exchange, form, 206, fields, range);
  const body = source.bytes.held(form.key) ?? (await source.bytes.load(form.key));
  if (body?.length !== file.file.bytes) throw new MissingBytes(`blob ${form.key} is missing or not whole`);
  exchange.res.writeHead(206, fields).end(body.subarray(range.start, range.end + 1));
}

async function stream(
  source: Source,
  { req, res }: Exchange,
  form: Form,
  status: number,
  fields: string[],
  range: ByteRange | undefined,
): Promise<void> {
  if (req.method === 'HEAD') {
    res.writeHead(status, fields).end();
    return;
  }
  const content = await source.store.read(form.key.slice(0, 64), form.encoding, range);
  if (!content) throw new MissingBytes(`blob ${form.key} is missing`);
  res.writeHead(status, fields);
  await (range ? pipeline(content, exactly(range.end - range.start + 1), res) : pipeline(content, res));
}

/** Passes on what it is given and fails if that was less: a client that waits for the rest must see the connection end. */
function exactly(bytes: number) {
  return async function* (content: AsyncIterable<Buffer>) {
    let passed = 0;
    for await (const chunk of content) {
      passed += chunk.length;
      yield chunk;
    }
    if (passed !== bytes) throw new MissingBytes(`a blob ended after ${passed} of ${bytes} bytes`);
  };
}

/** Sends a visitor to another path of the same site. Not for ever: the next version may have the page where it was asked for. */
export function answerRedirect(res: ServerResponse, path: string, query: string): void {
  const fields = ['location', hrefOf(path) + query, 'cache-control', 'public, max-age=0, must-revalidate'];
  res.writeHead(308, [...fields, 'content-length', '0']).end();
}

/** Answers with one of the edge's own pages. */
export function answerPage(res: ServerResponse, name: PageName, as: 'html' | 'text'): void {
  const page = ownPage(name, as);
  res.writeHead(page.status, page.fields).end(page.body);
}

function answerEmpty(res: ServerResponse, status: number, fields: string[] = []): void {
  res.writeHead(status, [...fields, 'cache-control', 'no-store', 'content-length', '0']).end();
}
