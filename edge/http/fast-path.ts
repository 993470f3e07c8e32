/**
 * The short way: a connection whose requests are plain and whose answers are in memory is answered on the socket itself, at a third of
 * the cost of Node's HTTP. Whatever is not plain goes to Node's HTTP, with the connection and for good.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type Answer, strictTransport } from '#edge/content/response.ts';
import type { Edge } from '#edge/edge.ts';
import type { Clock } from '#runtime/clock.ts';
import { readPlainRequest, renderHead } from './http1-head.ts';
import type { VisitorRequest } from './request.ts';

export type Sent = (request: VisitorRequest, answer: Answer, socket: Socket, ms: number) => void;

export type QuickParts = {
  edge: Edge;
  clock: Clock;
  /** Takes the connection over. What was read of it is put back. */
  handOver(socket: Socket): void;
  /** Called for each answer that was sent. */
  sent?: Sent | undefined;
  /** Whether `sent` is told how long it took: to look at the clock twice costs as much as to count. */
  timed: boolean;
};

export type Quick = {
  take(socket: Socket): void;
  /** From now on an answer is the last of its connection. */
  drain(): void;
  /** Ends connections when they have sent what they are sending; those handed over are not its own any more. */
  end(): void;
  destroy(): void;
};

/** How long a connection may wait for its first request, and for each one after it. */
const patienceMs = { first: 10_000, next: 30_000 };
const headBytesMax = 8 * 1024;

export function openQuick({ edge, clock, handOver, sent, timed }: QuickParts): Quick {
  const sockets = new Set<Socket>();
  const busy = new WeakSet<Socket>();
  const dateField = createDateField(clock);
  let ending = false;

  function take(socket: Socket): void {
    sockets.add(socket);
    socket.setTimeout(patienceMs.first);
    socket.on('data', hear);
    socket.on('timeout', destroySocket);
    socket.on('end', endSocket);
    socket.on('error', destroySocket);
    socket.on('close', forget);
  }

  function hear(this: Socket, chunk: Buffer): void {
    // What comes after the last answer is not asked of us any more.
    if (this.writableEnded) return;
    const began = timed ? performance.now() : 0;
    const request =
      chunk.length <= headBytesMax ? readPlainRequest(chunk.toString('latin1'), servernameOf(this)) : undefined;
    if (!request) {
      giveAway(this, chunk);
      return;
    }
    const send = (answer: Answer) => {
      if (isLarge(answer)) giveAway(this, chunk);
      else write(this, request, answer, began);
    };
    const answer = edge.answer(request);
    if (answer instanceof Promise) waitFor(this, answer, send);
    else send(answer);
  }

  function waitFor(socket: Socket, answer: Promise<Answer>, send: (answer: Answer) => void): void {
    busy.add(socket);
    socket.pause();
    void answer.then((known) => {
      busy.delete(socket);
      if (socket.destroyed) return;
      socket.resume();
      send(known);
    });
  }

  function write(socket: Socket, request: VisitorRequest, wanted: Answer, began: number): void {
    const { answer, text } = rendered(request, wanted);
    const last = ending || socket.readableEnded;
    const strict = answer.isStrict ? strictField : '';
    const head = text + strict + dateField() + (last ? lastFields : keptFields);
    const bytes = Buffer.allocUnsafe(head.length);
    bytes.write(head, 'latin1');
    // Both in one system call.
    socket.cork();
    let flows = socket.write(bytes);
    if (answer.body && request.method === 'GET') flows = socket.write(answer.body as Buffer);
    socket.uncork();
    if (last) socket.end();
    else if (!flows) waitForDrain(socket);
    if (socket.timeout !== patienceMs.next) socket.setTimeout(patienceMs.next);
    sent?.(request, answer, socket, timed ? performance.now() - began : 0);
  }

  function rendered(request: VisitorRequest, answer: Answer): { answer: Answer; text: string } {
    try {
      answer.head.text ??= renderHead(answer.head);
      return { answer, text: answer.head.text };
    } catch (err) {
      const instead = edge.fail(request, err);
      return { answer: instead, text: renderHead(instead.head) };
    }
  }

  function giveAway(socket: Socket, chunk: Buffer): void {
    forget.call(socket);
    socket.off('data', hear);
    socket.off('timeout', destroySocket);
    socket.off('end', endSocket);
    socket.off('error', destroySocket);
    socket.off('close', forget);
    socket.setTimeout(0);
    socket.unshift(chunk);
    handOver(socket);
  }

  function endSocket(this: Socket): void {
    if (!busy.has(this)) this.end();
  }

  function forget(this: Socket): void {
    sockets.delete(this);
  }

  return {
    take,
    drain() {
      ending = true;
    },
    end() {
      ending = true;
      for (const socket of sockets) if (!busy.has(socket)) socket.end();
    },
    destroy() {
      for (const socket of sockets) socket.destroy();
    },
  };
}

const strictField = `${strictTransport.join(': ')}\r\n`;
const keptFields = `Connection: keep-alive\r\nKeep-Alive: timeout=${patienceMs.next / 1000}\r\n\r\n`;
const lastFields = 'Connection: close\r\n\r\n';

/** For which host the client asked for a certificate; undefined without TLS. A socket of `node:tls` says that it is one, and no other does. */
export function servernameOf(socket: Socket): string | undefined {
  const { encrypted, servername } = socket as Partial<TLSSocket>;
  return encrypted === true ? String(servername || '') : undefined;
}

function isLarge({ body }: Answer): boolean {
  return body !== undefined && !Buffer.isBuffer(body);
}

function destroySocket(this: Socket): void {
  this.destroy();
}

/** Who does not take answers is not asked for more requests. */
function waitForDrain(socket: Socket): void {
  socket.pause();
  socket.once('drain', () => socket.resume());
}

/** The Date field (RFC 9110 section 6.6.1), written anew once a second. */
function createDateField(clock: Clock): () => string {
  let field: string | undefined;
  return () => {
    if (field !== undefined) return field;
    const now = clock.now();
    setTimeout(() => (field = undefined), 1_000 - now.getMilliseconds()).unref();
    field = `Date: ${now.toUTCString()}\r\n`;
    return field;
  };
}
