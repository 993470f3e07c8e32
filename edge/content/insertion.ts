/** Puts a piece of ours into the pages of a site: the bar of a preview, the loader of the overlay. Files of other kinds stay as they are. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { matchesStrongly, matchesWeakly } from '#edge/http/conditions.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import { type Later, whenKnown } from '#edge/maybe-async.ts';
import { heldBytesMax } from './blob-cache.ts';
import { plainForm, type ServedFile } from './representations.ts';
import { type Answer, answerFile, answerMissing, MissingBytes, type Source } from './response.ts';

/** `tag` tells pages with this piece apart from those without it, and from those with another one. */
export type Snippet = { bytes: Buffer; tag: string };

/** `markup` stands on its own: it opens what it closes. */
export function createSnippet(markup: string): Snippet {
  const bytes = Buffer.from(markup);
  return { bytes, tag: createHash('sha256').update(bytes).digest('hex').slice(0, 16) };
}

const pageEnd = /<\/body\s*>\s*(<\/html\s*>)?\s*$/i;
const tailBytes = 512;

/**
 * The page with the piece before its `</body>`. Where a page does not end so, the piece comes last: browsers read what follows a body
 * as part of it (HTML standard, "after body" insertion mode).
 */
export function insertIntoPage(page: Buffer, { bytes }: Snippet): Buffer {
  const tail = page.toString('latin1', Math.max(0, page.length - tailBytes));
  const found = pageEnd.exec(tail);
  const at = found ? page.length - tail.length + found.index : page.length;
  return Buffer.concat([page.subarray(0, at), bytes, page.subarray(at)]);
}

/** Whether the file is a page that browsers show. */
export function isPage({ file }: ServedFile): boolean {
  return /\.html?$/i.test(file.path);
}

/**
 * Answers a file as `answerFile` does (as `answerMissing` for 404), and a page with the piece in it: whole, not compressed, with a tag of
 * its own, and kept by the visitor alone.
 */
export function answerInserted(
  source: Source,
  request: VisitorRequest,
  served: ServedFile,
  snippet: Snippet,
  status: 200 | 404 = 200,
): Later<Answer> {
  if (!isPage(served)) {
    return status === 200 ? answerFile(source, request, served) : answerMissing(source, request, served);
  }
  const etag = `"${served.file.sha256}-${snippet.tag}"`;
  const { ifMatch, ifNoneMatch } = request.fields;
  if (status === 200 && ifMatch !== undefined && !matchesStrongly(ifMatch, etag)) return empty(412, []);
  if (status === 200 && ifNoneMatch !== undefined && matchesWeakly(ifNoneMatch, etag))
    return empty(304, ['etag', etag]);
  if (served.file.bytes > heldBytesMax) return answerLarge(source, served, snippet, etag, status);
  const form = plainForm(served);
  return whenKnown(source.bytes.held(form.key) ?? source.bytes.load(form.key), (page) => {
    if (page?.length !== served.file.bytes) throw new MissingBytes(`blob ${form.key} is missing or not whole`);
    const body = insertIntoPage(page, snippet);
    return { head: { status, fields: [...fieldsOf(etag), 'content-length', String(body.length)] }, body };
  });
}

/** What is too large for memory gets the piece at its end. */
function answerLarge(
  { store }: Source,
  { file }: ServedFile,
  snippet: Snippet,
  etag: string,
  status: 200 | 404,
): Answer {
  const length = file.bytes + snippet.bytes.length;
  const open = async () => {
    const content = await store.read(file.sha256);
    if (!content) throw new MissingBytes(`blob ${file.sha256} is missing`);
    return followedBy(content, snippet);
  };
  return {
    head: { status, fields: [...fieldsOf(etag), 'content-length', String(length)] },
    body: { bytes: length, open },
  };
}

/** What is too large for memory, and after it the piece. */
export function followedBy(content: AsyncIterable<Buffer>, { bytes }: Snippet): Readable {
  async function* all() {
    yield* content;
    yield bytes;
  }
  return Readable.from(all(), { objectMode: false });
}

const cacheControl = ['cache-control', 'private, no-cache'];

function fieldsOf(etag: string): string[] {
  return [
    'content-type',
    'text/html; charset=utf-8',
    'etag',
    etag,
    ...cacheControl,
    'x-content-type-options',
    'nosniff',
  ];
}

function empty(status: 304 | 412, fields: string[]): Answer {
  const length = status === 304 ? [] : ['content-length', '0'];
  return { head: { status, fields: [...fields, ...cacheControl, ...length] }, body: undefined };
}
