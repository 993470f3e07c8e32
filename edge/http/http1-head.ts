/** Heads of messages as they go over the wire (RFC 9112), for connections that are answered without Node's HTTP. */
import { STATUS_CODES } from 'node:http';
import { reviewCookie } from '#edge/routing/review-cookie.ts';
import { requestOf, type VisitorRequest } from './request.ts';

export type Head = {
  status: number;
  /** Names and values in turn. */
  fields: readonly string[];
  /** The same as it goes over the wire; kept by whoever renders it. */
  text?: string;
};

// Less than HTTP allows, so that there is one reading of it: one whole head, each line ended by CR LF, a target in origin form. Paths that
// begin with a dot are for `edge/routing/reviews.ts`.
const wholeHead =
  /^(GET|HEAD) (\/(?:[\x21-\x2d\x2f-\x7e][\x21-\x7e]*)?) HTTP\/1\.1\r\n((?:[!#$%&'*+.^_`|~0-9A-Za-z-]+:[\t\x20-\x7e\x80-\xff]*\r\n)+)\r\n$/;

// What may change where the message ends, or what the connection is from then on; and what tells a reviewer.
const changing: ReadonlySet<string> = new Set([
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

/** Reads what is one whole request without a body and without a wish about its connection; `undefined` for anything else. */
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
    if (changing.has(name) && !changesNothing(name, value)) return undefined;
    raw.push(name, value);
    start = end + 2;
  }
  const [, method = '', target = ''] = match;
  return requestOf({ method, target, servername }, raw);
}

function changesNothing(name: string, value: string): boolean {
  if (name === 'cookie') return !value.includes(reviewCookie);
  return name === 'connection' && value.toLowerCase() === 'keep-alive';
}

/** Without the spaces and tabs around it, and no others: to `trim` a byte 0xa0 is a space as well. */
function trimmed(text: string, from: number, to: number): string {
  let [start, end] = [from, to];
  while (start < end && isBlank(text.charCodeAt(start))) start++;
  while (end > start && isBlank(text.charCodeAt(end - 1))) end--;
  return text.slice(start, end);
}

function isBlank(code: number): boolean {
  return code === 32 || code === 9;
}

/** Status line and fields, without the empty line at the end. Throws where a value would end its line: it would add fields. */
export function renderHead({ status, fields }: Head): string {
  let text = `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
  for (let i = 0; i + 1 < fields.length; i += 2) {
    const value = fields[i + 1] as string;
    if (/[^\t\x20-\x7e\x80-\xff]/.test(value)) throw new Error(`a field ${fields[i]} cannot be sent`);
    text += `${fields[i]}: ${value}\r\n`;
  }
  return text;
}
