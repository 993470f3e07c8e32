/** Responses by Node's HTTP: any request, and bodies of any length. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type EdgeResponse, MissingBlob, strictTransport } from '#edge/content/response.ts';
import type { Edge } from '#edge/edge.ts';
import type { Reviews } from '#edge/routing/reviews.ts';
import type { ChallengeResponder } from './acme-challenges.ts';
import { type OnSent, servernameOf } from './fast-path.ts';
import { networkOf } from './network.ts';
import type { OpenBodies } from './open-bodies.ts';
import { requestOf, type VisitorRequest } from './request.ts';

export type RequestHandlers = {
  edge: Edge;
  reviews: Reviews;
  challenges: ChallengeResponder | undefined;
  bodies: OpenBodies;
};

/** The response to a certificate authority, a reviewer or a visitor. Redirects of hosts come first. */
export function respond(
  { edge, reviews, challenges }: Omit<RequestHandlers, 'bodies'>,
  request: VisitorRequest,
  cookies: string | undefined,
) {
  const first = edge.misdirected(request) ?? challenges?.answer(request);
  return first ?? edge.redirectFor(request) ?? reviews.answer(request, cookies) ?? edge.answer(request);
}

/** Responds to one request, and calls `onSent` afterwards. Never rejects. */
export async function respondOverNodeHttp(
  handlers: RequestHandlers,
  req: IncomingMessage,
  res: ServerResponse,
  onSent?: OnSent,
): Promise<void> {
  const began = performance.now();
  const [method, target] = [req.method as string, req.url as string];
  const request = requestOf({ method, target, servername: servernameOf(req.socket) }, req.rawHeaders);
  // An unread body must not be parsed as the next request.
  if (request.fields.hasBody) res.shouldKeepAlive = false;
  try {
    const answer = await respond(handlers, request, req.headers.cookie);
    await send(handlers, request, res, answer);
    onSent?.(request, answer, req.socket, performance.now() - began);
  } catch (err) {
    // The client disconnected: not an error.
    if ((err as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    const instead = handlers.edge.fail(request, err);
    const { head, body } = instead;
    if (res.headersSent) res.destroy();
    else res.writeHead(head.status, head.fields as string[]).end(body);
    onSent?.(request, instead, req.socket, performance.now() - began);
  }
}

async function send(
  { bodies }: RequestHandlers,
  { method }: VisitorRequest,
  res: ServerResponse,
  answer: EdgeResponse,
): Promise<void> {
  const { head, body } = answer;
  const fields = fieldsOf(answer);
  if (body === undefined || method === 'HEAD') {
    res.writeHead(head.status, fields).end();
  } else if (Buffer.isBuffer(body)) {
    res.writeHead(head.status, fields).end(body);
  } else {
    const network = networkOf(res.req.socket.remoteAddress ?? '');
    const content = await bodies.open(network, body, () => res.destroy());
    // Closes the file if the client disconnected meanwhile.
    if (res.destroyed) return void content.destroy();
    res.writeHead(head.status, fields);
    await (body.bytes === undefined ? pipeline(content, res) : pipeline(content, exactLength(body.bytes), res));
  }
}

function fieldsOf({ head, isStrict }: EdgeResponse): string[] {
  return isStrict ? [...head.fields, ...strictTransport] : (head.fields as string[]);
}

/** Passes bytes through, and fails if they are not exactly as many: a client that waits for more must see the connection end. */
export function exactLength(bytes: number) {
  return async function* (content: AsyncIterable<Buffer>) {
    let passed = 0;
    for await (const chunk of content) {
      passed += chunk.length;
      yield chunk;
    }
    if (passed !== bytes) throw new MissingBlob(`a blob ended after ${passed} of ${bytes} bytes`);
  };
}
