/**
 * Parses form submissions into names and texts: the encodings of HTML forms (WHATWG URL standard, RFC 7578), or JSON. A
 * body that cannot be parsed completely is refused, because a partial enquiry would be a lost enquiry.
 */
import { isUtf8 } from 'node:buffer';
import { Readable } from 'node:stream';
import { Busboy, type BusboyHeaders } from '@fastify/busboy';
import type { FastifyRequest } from 'fastify';
import { namesHtml } from '#api/front/representation.ts';
import { bodyBytesMax } from '#api/plugins/json.ts';
import { errors } from '#runtime/errors.ts';
import type { RawValues } from './values.ts';

const answersMax = 2_000;
const sliceBytes = 16_384;

/** Each name once, in order, with all its values. Throws `invalid_json`, `invalid_fields`, `body_too_large`. */
export async function parseSubmission(request: Pick<FastifyRequest, 'headers' | 'body'>): Promise<RawValues> {
  const type = (request.headers['content-type'] ?? '').split(';', 1)[0]?.trim().toLowerCase();
  const body = Buffer.isBuffer(request.body) ? request.body : Buffer.alloc(0);
  if (type === 'application/json') return fromJson(body);
  if (type === 'multipart/form-data') return await fromParts(request.headers, body);
  if (type === 'application/x-www-form-urlencoded' || body.length === 0) return fromEncoded(body);
  throw errors.invalid_json('The content type of this submission is not supported.', {
    nextAction: 'Send application/x-www-form-urlencoded, multipart/form-data or application/json.',
  });
}

/** Whether to respond with JSON. A browser gets a page, and so does any client that sends a form as browsers do. */
export function prefersJson({ headers, method }: Pick<FastifyRequest, 'headers' | 'method'>): boolean {
  const { accept = '' } = headers;
  if (namesHtml({ headers })) return false;
  if (method !== 'POST') return true;
  return /\bapplication\/json\b/i.test(accept) || /^application\/json\b/i.test(headers['content-type'] ?? '');
}

type Collected = Map<string, string[]>;

function add(given: Collected, count: { left: number }, name: string, text: string): void {
  count.left -= 1;
  if (count.left < 0)
    throw errors.invalid_fields(`The submission contains too many answers; the limit is ${answersMax}.`);
  const all = given.get(name);
  if (all) all.push(text);
  else given.set(name, [text]);
}

function fromEncoded(body: Buffer): RawValues {
  const given: Collected = new Map();
  const count = { left: answersMax };
  for (const [name, text] of new URLSearchParams(body.toString('utf8'))) add(given, count, name, text);
  return given;
}

/** One object of strings, numbers, booleans and lists of strings. `__proto__` in it is an own name, never a prototype. */
function fromJson(body: Buffer): RawValues {
  if (!isUtf8(body)) throw errors.invalid_json('The body is not valid UTF-8.');
  const value = parse(body.toString());
  if (value === null || typeof value !== 'object' || Array.isArray(value)) {
    throw errors.invalid_json('The body must be a JSON object that maps field names to answers.');
  }
  const given: Collected = new Map();
  const count = { left: answersMax };
  for (const [name, answer] of Object.entries(value)) {
    for (const one of Array.isArray(answer) ? answer : [answer]) {
      const text = textOf(one);
      if (text === undefined)
        throw errors.invalid_fields(
          `The answer to ${JSON.stringify(name.slice(0, 80))} must be text, a number, a boolean or a list of these.`,
        );
      if (one !== null) add(given, count, name, text);
    }
  }
  return given;
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw errors.invalid_json('The body is not valid JSON.');
  }
}

function textOf(value: unknown): string | undefined {
  if (typeof value === 'string') return value;
  if (value === null) return '';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

async function fromParts(headers: FastifyRequest['headers'], body: Buffer): Promise<RawValues> {
  const given: Collected = new Map();
  const count = { left: answersMax };
  await new Promise<void>((resolve, reject) => {
    const parser = openParts(headers);
    const refuse = (error: Error) => {
      reject(error);
      parser.destroy();
    };
    parser.on('field', (name, text, nameTruncated, textTruncated) => {
      if (nameTruncated || textTruncated) return refuse(errors.invalid_fields('A field of the form is too long.'));
      try {
        add(given, count, name, text);
      } catch (error) {
        refuse(error as Error);
      }
    });
    parser.on('file', (_name, content, filename) => {
      // Browsers send an empty part for a file input that was not used.
      content.on('data', () => refuse(errors.invalid_fields('Forms do not accept files.')));
      if (filename) refuse(errors.invalid_fields('Forms do not accept files.'));
    });
    for (const limit of ['fieldsLimit', 'partsLimit', 'filesLimit'] as const) {
      parser.on(limit, () =>
        refuse(errors.invalid_fields(`The submission contains too many answers; the limit is ${answersMax}.`)),
      );
    }
    parser.on('error', () => reject(unreadable()));
    parser.on('finish', () => resolve());
    Readable.from(slicesOf(body)).pipe(parser);
  });
  return given;
}

/** Parts of the body: the parser stops at a limit between two of them, not within one. */
function* slicesOf(body: Buffer): Generator<Buffer> {
  for (let at = 0; at < body.length; at += sliceBytes) yield body.subarray(at, at + sliceBytes);
}

function openParts(headers: FastifyRequest['headers']) {
  try {
    return new Busboy({
      headers: headers as BusboyHeaders,
      limits: { fields: answersMax, files: 20, parts: answersMax + 20, fieldSize: bodyBytesMax, headerPairs: 20 },
    });
  } catch {
    throw unreadable();
  }
}

const unreadable = () => errors.invalid_json('The submission was incomplete. Please send it again.');
