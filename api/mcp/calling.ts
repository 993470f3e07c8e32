/**
 * A tool's call: the call of the API, made in this process with the caller's token, address and request id. So who may do what, limits, keys,
 * validation and errors are those of the API, because they are the API's.
 */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import { type AppError, errors } from '../../errors.ts';
import type { Api } from '../api.ts';
import { within } from '../plugins/inside.ts';
import type { Operation, Place } from './operations.ts';
import { extraInputs, extrasOf } from './tools.ts';

export type Input = Record<string, unknown>;
/** No more of an answer is read, however long it is. */
export const answerBytesMax = 1_048_576;
/**
 * `bytes` are those from `from` on, up to `answerBytesMax`; `more`: there are others behind them. `total` is the length of the whole, where it was
 * said. `body` is there where the answer is JSON that was read to its end.
 */
export type Answered = {
  status: number;
  type: string;
  bytes: Buffer;
  from: number;
  more: boolean;
  total?: number | undefined;
  path: string;
  body?: Input;
};

export type Sent = {
  body?: Input | undefined;
  file?: Buffer | undefined;
  key?: string | undefined;
  waitSeconds?: number | undefined;
  /** Where to begin in the bytes of the answer. */
  from?: number | undefined;
};
/** Calls the API. */
export type Send = (method: string, path: string, sent?: Sent) => Promise<Answered>;

/** Calls as whoever made this request. */
export function sendAs(app: Api, request: FastifyRequest): Send {
  return async (method, path, { body, file, key, waitSeconds, from = 0 } = {}) => {
    const headers: Record<string, string> = { authorization: request.headers.authorization ?? '' };
    if (body) headers['content-type'] = 'application/json';
    if (file) headers['content-type'] = 'application/octet-stream';
    if (key !== undefined) headers['idempotency-key'] = key;
    if (waitSeconds !== undefined) headers.prefer = waitSeconds === 0 ? 'respond-async' : `wait=${waitSeconds}`;
    const payload = body ? JSON.stringify(body) : file;
    const call = {
      method: method as 'GET',
      url: path,
      remoteAddress: request.ip,
      headers,
      payloadAsStream: true as const,
      ...(payload ? { payload } : {}),
    };
    const answer = await within(request.id, async () => await app.inject(call));
    const { 'content-type': contentType = '', 'content-length': length } = answer.headers;
    const type = String(contentType);
    const window = await readWindow(answer.stream(), type.startsWith('text/') ? from : 0);
    // To whoever writes it this is a caller who has hung up.
    if (window.more) answer.raw.res.destroy(Object.assign(new Error('read far enough'), { code: prematureClose }));
    const total = length === undefined ? undefined : Number(length);
    const read = { status: answer.statusCode, type, path, total, ...window };
    return isJson(read) && !window.more ? { ...read, body: JSON.parse(window.bytes.toString()) } : read;
  };
}

const prematureClose = 'ERR_STREAM_PREMATURE_CLOSE';

export const isJson = ({ type }: Pick<Answered, 'type'>): boolean => type.startsWith('application/json');

/** Reads the stream from a byte on, and no further than a result can hold. */
async function readWindow(stream: Readable, from: number): Promise<Pick<Answered, 'bytes' | 'from' | 'more'>> {
  const kept: Buffer[] = [];
  let [at, keptBytes] = [0, 0];
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    const part = chunk.subarray(Math.max(0, from - at));
    at += chunk.length;
    kept.push(part);
    keptBytes += part.length;
    if (keptBytes > answerBytesMax) break;
  }
  return { bytes: Buffer.concat(kept).subarray(0, answerBytesMax), from, more: keptBytes > answerBytesMax };
}

/** Makes the call with a tool's input. What fits no call is refused as the API would refuse it. `waitSeconds` goes before the input's own. */
export async function callOperation(
  send: Send,
  operation: Operation,
  input: Input,
  waitSeconds?: number,
): Promise<Answered> {
  const { method, takesJson, takesFile } = operation;
  const fault = faultIn(operation, input);
  if (fault) return refused(operation, fault);
  const file = takesFile ? fileOf(input) : undefined;
  if (takesFile && !file) {
    return refused(operation, errors.invalid_input('The file has to come in one of the inputs text and base64.'));
  }
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(partOf(operation, input, 'query'))) query.set(name, textOf(value));
  const path = `${pathOf(operation, input)}${query.size > 0 ? `?${query}` : ''}`;
  const { [extraInputs.key]: key, [extraInputs.wait]: asked, [extraInputs.offset]: from } = input;
  return await send(method, path, {
    body: takesJson ? partOf(operation, input, 'body') : undefined,
    file,
    key: key === undefined ? undefined : textOf(key),
    waitSeconds: waitSeconds ?? (asked as number | undefined),
    from: from as number | undefined,
  });
}

/** What keeps the input from being a call at all; all else the call itself judges. */
function faultIn(operation: Operation, input: Input): AppError | undefined {
  const known = new Set([...extrasOf(operation), ...operation.inputs.map(({ name }) => name)]);
  const unknown = Object.keys(input).find((name) => !known.has(name));
  if (unknown !== undefined)
    return errors.invalid_input(`This tool knows no input ${JSON.stringify(unknown.slice(0, 80))}.`);
  for (const name of [extraInputs.wait, extraInputs.offset]) {
    const { [name]: number = 0 } = input;
    if (!Number.isSafeInteger(number) || (number as number) < 0)
      return errors.invalid_input(`The input ${name} has to be a whole number, 0 or more.`);
  }
  for (const { name, place } of operation.inputs) {
    if (place === 'path' && !isPath(name, input[name])) {
      return errors.invalid_input(
        `The input ${name} has to be ${name === 'path' ? 'a path without empty parts, . and ..' : 'an id or a number'}.`,
      );
    }
  }
  return undefined;
}

/** Addresses are tidied by whoever reads them, so a part `..` would lead to another call. */
function isPath(name: string, value: unknown): boolean {
  const parts = name === 'path' ? textOf(value).split('/') : [textOf(value)];
  return (
    (typeof value === 'string' || typeof value === 'number') &&
    parts.every((part) => !['', '.', '..'].includes(part)) &&
    textOf(value).isWellFormed()
  );
}

function pathOf({ path, inputs }: Operation, input: Input): string {
  return inputs
    .filter(({ place }) => place === 'path')
    .reduce((filled, { name }) => {
      const text = textOf(input[name]);
      const written = name === 'path' ? text.split('/').map(encodeURIComponent).join('/') : encodeURIComponent(text);
      return filled.replace(`{${name}}`, () => written);
    }, path);
}

function partOf({ inputs }: Operation, input: Input, place: Place): Input {
  const here = inputs.filter((one) => one.place === place && Object.hasOwn(input, one.name));
  return Object.fromEntries(here.map(({ name }) => [name, input[name]]));
}

function fileOf(input: Input): Buffer | undefined {
  const { [extraInputs.text]: text, [extraInputs.base64]: base64 } = input;
  if (typeof base64 === 'string')
    return /^[A-Za-z0-9+/]*={0,2}$/.test(base64) ? Buffer.from(base64, 'base64') : undefined;
  return typeof text === 'string' ? Buffer.from(text) : undefined;
}

const textOf = (value: unknown): string => (typeof value === 'object' ? JSON.stringify(value) : String(value));

function refused({ path }: Operation, error: AppError): Answered {
  const body = { error: error.toBody() };
  const bytes = Buffer.from(JSON.stringify(body));
  return { status: error.status, type: 'application/json', bytes, from: 0, more: false, path, body };
}
