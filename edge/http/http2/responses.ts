/** Responses on streams of HTTP/2, by the common handlers. */
import { type EdgeResponse, isLarge, type LargeBody, strictTransport } from '#edge/content/response.ts';
import type { OnSent } from '#edge/http/fast-path.ts';
import { exactLength, type RequestHandlers, respond } from '#edge/http/node-http.ts';
import type { VisitorRequest } from '#edge/http/request.ts';
import type { Connection } from './connection.ts';
import { errorCode } from './frames.ts';
import { encodeField, encodeHead } from './hpack.ts';
import type { Stream } from './streams.ts';

type Parts = { handlers: RequestHandlers; onSent: OnSent | undefined; dateField: () => Buffer };
/** A request with its connection, its stream, and the visitor's network. */
type Asked = { to: Connection; stream: Stream; request: VisitorRequest; network: string; began: number };

const strictField = encodeField(...strictTransport);
const tooLarge = encodeHead({ status: 431, fields: [] });
const nothing = Buffer.alloc(0);

export function createResponder({ handlers, onSent, dateField }: Parts) {
  function sendHead({ to, stream }: Asked, { head, isStrict }: EdgeResponse, isLast: boolean): void {
    head.block ??= encodeHead(head);
    to.sending.sendHead(stream, isStrict ? [head.block, strictField, dateField()] : [head.block, dateField()], isLast);
  }

  function finish(asked: Asked, answer: EdgeResponse): void {
    asked.to.streams.finish(asked.stream);
    report(asked, answer);
  }

  function report({ to, request, began }: Asked, answer: EdgeResponse): void {
    onSent?.(request, answer, to.socket, performance.now() - began);
  }

  /** Sends a response that is in memory, or only its head. */
  function sendWhole(asked: Asked, answer: EdgeResponse): void {
    const { to, stream, request } = asked;
    const body = request.method === 'HEAD' ? nothing : ((answer.body as Buffer | undefined) ?? nothing);
    sendHead(asked, answer, body.length === 0);
    if (body.length === 0) finish(asked, answer);
    else to.sending.sendBody(stream, body, true, (isSent) => isSent && finish(asked, answer));
  }

  async function sendLarge(asked: Asked, answer: EdgeResponse, body: LargeBody): Promise<void> {
    const { stream, network } = asked;
    const { streams, sending } = asked.to;
    const content = await handlers.bodies.open(network, body, () => {
      streams.reset(stream.id, errorCode.cancel);
      sending.flush();
    });
    // Closes the file if the client disconnected meanwhile.
    if (stream.isClosed) return void content.destroy();
    stream.onClose = () => content.destroy();
    sendHead(asked, answer, false);
    const write = (chunk: Buffer, isLast: boolean) =>
      new Promise<boolean>((resolve) => {
        sending.sendBody(stream, chunk, isLast, resolve);
        sending.flush();
      });
    for await (const chunk of body.bytes === undefined ? content : exactLength(body.bytes)(content))
      if (!(await write(chunk as Buffer, false))) return;
    if (await write(nothing, true)) finish(asked, answer);
  }

  function fail(asked: Asked, err: unknown): void {
    const { to, stream, request } = asked;
    // The client disconnected: not an error.
    if (stream.isClosed) return;
    const instead = handlers.edge.fail(request, err);
    if (!stream.isBegun) {
      sendWhole(asked, instead);
      return;
    }
    to.streams.reset(stream.id, errorCode.internal);
    report(asked, instead);
  }

  async function sendLater(asked: Asked, answer: Promise<EdgeResponse> | EdgeResponse): Promise<void> {
    const { to, stream, request } = asked;
    try {
      const known = await answer;
      if (stream.isClosed) return;
      if (isLarge(known) && request.method !== 'HEAD') await sendLarge(asked, known, known.body);
      else sendWhole(asked, known);
    } catch (err) {
      fail(asked, err);
    }
    to.sending.flush();
  }

  return (to: Connection, stream: Stream, network: string): void => {
    if (!stream.asked) {
      to.sending.sendHead(stream, [tooLarge], true);
      to.streams.finish(stream);
      return;
    }
    const { request, cookies } = stream.asked;
    const asked = { to, stream, request, network, began: performance.now() };
    try {
      const answer = respond(handlers, request, cookies);
      if (answer instanceof Promise || isLarge(answer)) void sendLater(asked, answer);
      else sendWhole(asked, answer);
    } catch (err) {
      fail(asked, err);
    }
  };
}
