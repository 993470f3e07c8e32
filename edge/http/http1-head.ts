/** Message heads on the wire (RFC 9112), for the fast path. */
import { STATUS_CODES } from 'node:http';
import { reviewCookie } from '#edge/routing/review-cookie.ts';
import { requestOf, type VisitorRequest } from './request.ts';

export type Head = {
  status: number;
  /** Names and values in turn. */
  fields: readonly string[];
  /** The rendered head, cached by the renderer. */
  text?: string;
  /** The same for HTTP/2. */
  block?: Buffer;
};

// Stricter than HTTP, so that it has one reading: one whole head, each line ended by CR LF, a target in origin form. Paths that begin
// with a dot belong to `edge/routing/reviews.ts`.
const wholeHead =
  /^(GET|HEAD) (\/(?:[\x21-\x2d\x2f-\x7e][\x21-\x7e]*)?) HTTP\/1\.1\r\n((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n$/;

// Fields that may change where the message ends or how the connection continues, and the reviewer's cookie.
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'content-length',
  'cookie',
  'expect',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

/** Reads one whole request without a body and without connection options; `undefined` for anything else. */
export function readPlainRequest(text: string, servername?: string): VisitorRequest | undefined {
  const match = wholeHead.exec(text);
  if (!match) return undefined;
  const lines = match[3] as string;
  const raw: string[] = [];
  for (let start = 0; start < lines.length; ) {
    const colon = lines.indexOf(':', start);
    const end = lines.indexOf('\r\n', colon);
    const name = lines.slice(start, colon).toLowerCase();
    const value = trimmed(lines, colon + 1, end);
    if (connectionFields.has(name) && !isHarmless(name, value)) return undefined;
    raw.push(name, value);
    start = end + 2;
  }
  const [, method = '', target = ''] = match;
  return requestOf({ method, target, servername }, raw);
}

function isHarmless(name: string, value: string): boolean {
  if (name === 'cookie') return !value.includes(reviewCookie);
  return name === 'connection' && value.toLowerCase() === 'keep-alive';
}

/** Without surrounding spaces and tabs. `trim` would also remove a byte 0xa0. */
function trimmed(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Status line and fields, without the final empty line. Throws if a value would end its line and so inject fields. */
export function renderHead({ status, fields }: Head): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const value = fields[i + 1] as string;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new Error(`invalid value of header field ${fields[i]}`);
    text += `${fields[i]}: ${value}\r\n`;
  }
  return text;
}
