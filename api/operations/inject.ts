/**
 * Requests to the API within this process, with the identity of the outer request. Responses are read up to the size of
 * a result.
 */
import type { Readable } from 'node:stream';
import type { FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { sessionSecret } from '#api/plugins/session.ts';
import type { AppError } from '#runtime/errors.ts';
import { type InternalRequest, runAsInternalRequest } from './internal-request.ts';
import { mcpAgent } from './next-steps.ts';

export type Input = Record<string, unknown>;
/** At most this much of a response is read. */
const answerBytesMax = 1_048_576;
/**
 * `bytes` starts at `from` and has at most `answerBytesMax` bytes; `more` says that others follow. `total` is the full
 * length, if known. `body` is set for JSON that was read completely.
 */
export type ApiResponse = {
  status: number;
  type: string;
  bytes: Buffer;
  from: number;
  more: boolean;
  total?: number | undefined;
  path: string;
  body?: Input;
  /** The error, if the API refused the request. */
  refusal?: AppError | undefined;
};

export type ApiRequest = {
  body?: Input | undefined;
  file?: Buffer | undefined;
  /** The media type of the file, where the call takes only some. */
  type?: string | undefined;
  key?: string | undefined;
  waitSeconds?: number | undefined;
  /** The first byte to read of the response. */
  from?: number | undefined;
};
export type ApiClient = (method: string, path: string, sent?: ApiRequest) => Promise<ApiResponse>;

/** A client with the identity of this request: its person's, if it has a session, or that of its token. */
export function apiClientFor(app: Api, request: FastifyRequest): ApiClient {
  return async (method, path, { body, file, type: fileType, key, waitSeconds, from = 0 } = {}) => {
    const person = signedInPerson(request);
    const headers: Record<string, string> = person
      ? {}
      : { authorization: request.headers.authorization ?? '', 'user-agent': mcpAgent };
    if (body) headers['content-type'] = 'application/json';
    if (file) headers['content-type'] = fileType ?? 'application/octet-stream';
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
    const internal: InternalRequest = { id: request.id, person };
    const answer = await runAsInternalRequest(internal, async () => await app.inject(call));
    const { 'content-type': contentType = '', 'content-length': length } = answer.headers;
    const type = String(contentType);
    const window = await readWindow(answer.stream(), type.startsWith('text/') ? from : 0);
    // The writer of the response treats this as a disconnected client.
    if (window.more) answer.raw.res.destroy(Object.assign(new Error('read far enough'), { code: prematureClose }));
    const total = length === undefined ? undefined : Number(length);
    const read = { status: answer.statusCode, type, path, total, refusal: internal.refusal, ...window };
    return isJson(read) && !window.more ? { ...read, body: JSON.parse(window.bytes.toString()) } : read;
  };
}

/** Reads a file of the API with the identity of the person of this request. `end` stops its writer. */
export function streamFor(app: Api, request: FastifyRequest) {
  return async (path: string) => {
    const internal: InternalRequest = { id: request.id, person: signedInPerson(request) };
    const call = { method: 'GET' as const, url: path, remoteAddress: request.ip, payloadAsStream: true as const };
    const { statusCode, headers, raw, stream } = await runAsInternalRequest(
      internal,
      // The call begins where it is awaited.
      async () => await app.inject(call),
    );
    const end = () => raw.res.destroy(Object.assign(new Error('the client is gone'), { code: prematureClose }));
    return { status: statusCode, headers, stream: stream(), end, refusal: internal.refusal };
  };
}

/** Only a scope of signed-in browsers sets a session. */
function signedInPerson(request: FastifyRequest): InternalRequest['person'] {
  const secret = request.session ? sessionSecret(request) : undefined;
  return secret === undefined ? undefined : { actor: request.actor, secret };
}

const prematureClose = 'ERR_STREAM_PREMATURE_CLOSE';

export const isJson = ({ type }: Pick<ApiResponse, 'type'>): boolean => type.startsWith('application/json');

/** Reads the stream from an offset, up to the size of a result. */
async function readWindow(stream: Readable, from: number): Promise<Pick<ApiResponse, 'bytes' | 'from' | 'more'>> {
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
