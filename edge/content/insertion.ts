/** Inserts our markup into pages of a site: the bar of a draft, the loader of the overlay. Other files are unchanged. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { VisitorRequest } from '#edge/http/request.ts';
import { andThen, type MaybePromise } from '#edge/maybe-async.ts';
import { matchesStrongly, matchesWeakly } from '#rules/http-conditions.ts';
import { cachedBytesMax } from './blob-cache.ts';
import { identityOf, otherFields, type ServedFile } from './representations.ts';
import { answerFile, answerMissing, type EdgeResponse, MissingBlob, type Source } from './response.ts';

/** `tag` is part of the entity tags of pages with this snippet. */
export type Snippet = { bytes: Buffer; tag: string };

/** `markup` must be balanced. */
export function createSnippet(markup: string): Snippet {
  const bytes = Buffer.from(markup);
  return { bytes, tag: createHash('sha256').update(bytes).digest('hex').slice(0, 16) };
}

const pageEnd = /<\/body\s*>\s*(<\/html\s*>)?\s*$/i;
const tailBytes = 512;

/**
 * The page with the snippet before its `</body>`. Without one at the end, the snippet is appended: browsers treat content after the body
 * as part of it (HTML standard, "after body" insertion mode).
 */
export function insertIntoPage(page: Buffer, { bytes }: Snippet): Buffer {
  const tail = page.toString('latin1', Math.max(0, page.length - tailBytes));
  const found = pageEnd.exec(tail);
  const at = found ? page.length - tail.length + found.index : page.length;
  return Buffer.concat([page.subarray(0, at), bytes, page.subarray(at)]);
}

/** Whether the file is an HTML page. */
function isPage({ file }: ServedFile): boolean {
  return /\.html?$/i.test(file.path);
}

/**
 * Like `answerFile` (`answerMissing` for 404), but pages contain the snippet: whole, uncompressed, with their own entity tag, and not in
 * shared caches.
 */
export function answerInserted(
  source: Source,
  request: VisitorRequest,
  served: ServedFile,
  snippet: Snippet,
  status: 200 | 404 = 200,
): MaybePromise<EdgeResponse> {
  if (!isPage(served)) {
    return status === 200 ? answerFile(source, request, served) : answerMissing(source, request, served);
  }
  const etag = `"${served.file.sha256}-${snippet.tag}"`;
  const { ifMatch, ifNoneMatch } = request.fields;
  if (status === 200 && ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) return empty(412, []);
  if (status === 200 && ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag))
    return empty(304, ['etag', etag, ...otherFields(served)]);
  if (served.file.bytes > cachedBytesMax) return answerLarge(source, served, snippet, etag, status);
  const plain = identityOf(served);
  return andThen(source.blobs.cached(plain.key) ?? source.blobs.load(plain.key), (page) => {
    if (page?.length !== served.file.bytes) throw new MissingBlob(`blob ${plain.key} is missing or incomplete`);
    const body = insertIntoPage(page, snippet);
    return { head: { status, fields: [...fieldsOf(served, etag), 'content-length', String(body.length)] }, body };
  });
}

/** Appends the snippet to a page that is too large for memory. */
function answerLarge(
  { store }: Source,
  served: ServedFile,
  snippet: Snippet,
  etag: string,
  status: 200 | 404,
): EdgeResponse {
  const { file } = served;
  const length = file.bytes + snippet.bytes.length;
  const open = async () => {
    const content = await store.read(file.sha256);
    if (!content) throw new MissingBlob(`blob ${file.sha256} is missing`);
    return followedBy(content, snippet);
  };
  return {
    head: { status, fields: [...fieldsOf(served, etag), 'content-length', String(length)] },
    body: { bytes: length, open },
  };
}

/** Streams the content, then the snippet. */
export function followedBy(content: Readable, { bytes }: Snippet): Readable {
  async function* all() {
    yield* content;
    yield bytes;
  }
  // A stream that is destroyed before its first read does not end its source.
  return Readable.from(all(), { objectMode: false }).once('close', () => content.destroy());
}

const cacheControl = ['cache-control', 'private, no-cache'];

function fieldsOf(served: ServedFile, etag: string): string[] {
  const nosniff = served.headers.has('x-content-type-options') ? [] : ['x-content-type-options', 'nosniff'];
  const type = ['content-type', 'text/html; charset=utf-8'];
  return [...type, 'etag', etag, ...cacheControl, ...otherFields(served), ...nosniff];
}

function empty(status: 304 | 412, fields: string[]): EdgeResponse {
  const length = status === 304 ? [] : ['content-length', '0'];
  return { head: { status, fields: [...fields, ...cacheControl, ...length] }, body: undefined };
}
