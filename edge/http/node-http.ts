/** Answers by Node's HTTP: whatever request, however it comes, and bodies of any length. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { pipeline } from 'node:stream/promises';
import { type Answer, MissingBytes, strictTransport } from '#edge/content/response.ts';
import type { Edge } from '#edge/edge.ts';
import type { Reviews } from '#edge/routing/reviews.ts';
import type { Challenges } from './acme-challenges.ts';
import { type Sent, servernameOf } from './fast-path.ts';
import { requestOf, type VisitorRequest } from './request.ts';

export type Answering = { edge: Edge; reviews: Reviews; challenges: Challenges | undefined };

/** To the authority, a reviewer or a visitor. Who asks at an address that only leads to another is sent there first. */
export function answerOf(
  { edge, reviews, challenges }: Answering,
  request: VisitorRequest,
  cookies: string | undefined,
) {
  const first = edge.misdirected(request) ?? challenges?.answer(request);
  return first ?? edge.elsewhere(request) ?? reviews.answer(request, cookies) ?? edge.answer(request);
}

/** Answers one request, of a visitor or a reviewer, and says so when a visitor's answer was sent. Never rejects. */
export async function answerByHttp(
  { edge, reviews, challenges }: Answering,
  req: IncomingMessage,
  res: ServerResponse,
  sent?: Sent,
): Promise<void> {
  const began = performance.now();
  const [method, target] = [req.method as string, req.url as string];
  const request = requestOf({ method, target, servername: servernameOf(req.socket) }, req.rawHeaders);
  // What is not read may not be taken for the next request.
  if (request.fields.hasBody) res.shouldKeepAlive = false;
  try {
    const answer = await answerOf({ edge, reviews, challenges }, request, req.headers.cookie);
    await send(request, res, answer);
    sent?.(request, answer, req.socket, performance.now() - began);
  } catch (err) {
    // A visitor who left is no fault.
    if ((err as NodeJS.ErrnoException).code === 'ERR_STREAM_PREMATURE_CLOSE') return;
    const instead = edge.fail(request, err);
    const { head, body } = instead;
    if (res.headersSent) res.destroy();
    else res.writeHead(head.status, head.fields as string[]).end(body);
    sent?.(request, instead, req.socket, performance.now() - began);
  }
}

async function send({ method }: VisitorRequest, res: ServerResponse, answer: Answer): Promise<void> {
  const { head, body } = answer;
  const fields = fieldsOf(answer);
  if (body === undefined || method === 'HEAD') {
    res.writeHead(head.status, fields).end();
  } else if (Buffer.isBuffer(body)) {
    res.writeHead(head.status, fields).end(body);
  } else {
    const content = await body.open();
    res.writeHead(head.status, fields);
    await (body.bytes === undefined ? pipeline(content, res) : pipeline(content, exactly(body.bytes), res));
  }
}

export function fieldsOf({ head, isStrict }: Answer): string[] {
  return isStrict ? [...head.fields, ...strictTransport] : (head.fields as string[]);
}

/** Passes on what it is given and fails if that was less: a client that waits for the rest must see the connection end. */
export function exactly(bytes: number) {
  return async function* (content: AsyncIterable<Buffer>) {
    let passed = 0;
    for await (const chunk of content) {
      passed += chunk.length;
      yield chunk;
    }
    if (passed !== bytes) throw new MissingBytes(`a blob ended after ${passed} of ${bytes} bytes`);
  };
}
