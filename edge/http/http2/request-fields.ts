/** The request in the fields of a stream (RFC 9113 section 8.3). */
import { readFields, requestOf, type VisitorRequest } from '#edge/http/request.ts';
import { bytesOf, type Field } from './hpack.ts';

export type StreamRequest = { request: VisitorRequest; cookies: string | undefined; contentLength: number | undefined };

export const fieldBytesMax = 16 * 1024;
const fieldsMax = 100;

/** They belong to connections of HTTP/1.1 (RFC 9113 section 8.2.2). */
const connectionFields: ReadonlySet<string> = new Set([
  'connection',
  'keep-alive',
  'proxy-connection',
  'transfer-encoding',
  'upgrade',
]);

export function areTooLarge(fields: Field[]): boolean {
  if (fields.length > fieldsMax) return true;
  return fields.reduce((sum, field) => sum + bytesOf(field), 0) > fieldBytesMax;
}

/** Whether fields may be those of a request's trailer (RFC 9113 section 8.1). */
export function areTrailers(fields: Field[]): boolean {
  return fields.every(({ name, isValid }) => isValid && !name.startsWith(':') && !connectionFields.has(name));
}

type Pseudo = { ':method'?: string; ':scheme'?: string; ':path'?: string; ':authority'?: string };
const pseudoFields: ReadonlySet<string> = new Set([':method', ':scheme', ':path', ':authority']);

/** Undefined for a malformed request (RFC 9113 section 8.1.1). */
export function readStreamRequest(fields: Field[], servername: string): StreamRequest | undefined {
  const pseudo: Pseudo = {};
  const raw: string[] = [];
  let hasHost = false;
  let cookies: string | undefined;
  let contentLength: number | undefined;
  for (const { name, value, isValid } of fields) {
    if (!isValid) return undefined;
    if (name.charCodeAt(0) === 58 /* : */) {
      // They come first, each once.
      if (raw.length > 0 || !pseudoFields.has(name) || pseudo[name as keyof Pseudo] !== undefined) return undefined;
      pseudo[name as keyof Pseudo] = value;
      continue;
    }
    if (connectionFields.has(name) || (name === 'te' && value !== 'trailers')) return undefined;
    if (name === 'host') hasHost = true;
    if (name === 'cookie') cookies = cookies === undefined ? value : `${cookies}; ${value}`;
    if (name === 'content-length') {
      if (contentLength !== undefined || !/^\d{1,15}$/.test(value)) return undefined;
      contentLength = Number(value);
    }
    raw.push(name, value);
  }
  const request = requestFrom(pseudo, raw, hasHost, servername);
  return request && { request, cookies, contentLength };
}

/** The host is `:authority`; a Host field must be equal (RFC 9113 section 8.3.1). */
function requestFrom(pseudo: Pseudo, raw: string[], hasHost: boolean, servername: string): VisitorRequest | undefined {
  const { ':method': method, ':scheme': scheme, ':path': target, ':authority': authority } = pseudo;
  if (!method || !scheme || !target) return undefined;
  const fields = readFields(raw);
  const isOne = authority === undefined || !hasHost || fields.host === authority;
  fields.host = isOne && (scheme === 'https' || scheme === 'http') ? (authority ?? fields.host) : undefined;
  return requestOf({ method, target, servername }, raw, fields);
}
