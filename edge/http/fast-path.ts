/**
 * The fast path: plain requests whose responses are in memory are served on the socket itself, at a third of the cost of Node's HTTP.
 * Anything else is handed to Node's HTTP, with its connection and for good.
 */
import type { Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { type EdgeResponse, isLarge, strictTransport } from '#edge/content/response.ts';
import type { Edge } from '#edge/edge.ts';
import type { Clock } from '#runtime/clock.ts';
import { createDateField } from './date-field.ts';
import { readPlainRequest, renderHead } from './http1-head.ts';
import type { VisitorRequest } from './request.ts';

export type OnSent = (request: VisitorRequest, answer: EdgeResponse, socket: Socket, ms: number) => void;

export type FastPathParts = {
  edge: Edge;
  clock: Clock;
  /** Receives a connection that leaves the fast path. The bytes read so far are put back. */
  handOver(socket: Socket): void;
  /** Called for each sent response. */
  onSent?: OnSent | undefined;
  /** Whether `onSent` gets the duration: two clock reads cost as much as counting. */
  timed: boolean;
};

export type FastPath = {
  accept(socket: Socket): void;
  /** From now on, closes each connection after its response. */
  drain(): void;
  /** Closes connections after their running response. Connections that were handed over are not included. */
  end(): void;
  destroy(): void;
};

/** How long a connection may wait for its first request, and for each one after it. */
const idleTimeoutMs = { first: 10_000, next: 30_000 };
const headBytesMax = 8 * 1024;

export function createFastPath({ edge, clock, handOver, onSent, timed }: FastPathParts): FastPath {
  const sockets = new Set<Socket>();
  const busy = new WeakSet<Socket>();
  const dateField = createDateField(clock, (date) => `Date: ${date}\r\n`);
  let ending = false;

  function accept(socket: Socket): void {
    sockets.add(socket);
    socket.setTimeout(idleTimeoutMs.first);
    socket.on('data', onData);
    socket.on('timeout', destroySocket);
    socket.on('end', endSocket);
    socket.on('error', destroySocket);
    socket.on('close', untrack);
  }

  function onData(this: Socket, chunk: Buffer): void {
    // Ignores requests after the last response.
    if (this.writableEnded) return;
    const began = timed ? performance.now() : 0;
    const request =
      chunk.length <= headBytesMax ? readPlainRequest(chunk.toString('latin1'), servernameOf(this)) : undefined;
    if (!request) {
      handOff(this, chunk);
      return;
    }
    const send = (answer: EdgeResponse) => {
      if (isLarge(answer)) handOff(this, chunk);
      else write(this, request, answer, began);
    };
    const answer = edge.answer(request);
    if (answer instanceof Promise) waitFor(this, answer, send);
    else send(answer);
  }

  function waitFor(socket: Socket, answer: Promise<EdgeResponse>, send: (answer: EdgeResponse) => void): void {
    busy.add(socket);
    socket.pause();
    void answer.then((known) => {
      busy.delete(socket);
      if (socket.destroyed) return;
      socket.resume();
      send(known);
    });
  }

  function write(socket: Socket, request: VisitorRequest, wanted: EdgeResponse, began: number): void {
    const { answer, text } = rendered(request, wanted);
    const last = ending || socket.readableEnded;
    const strict = answer.isStrict ? strictField : '';
    const head = text + strict + dateField() + (last ? closeFields : keepAliveFields);
    const bytes = Buffer.allocUnsafe(head.length);
    bytes.write(head, 'latin1');
    // Head and body in one system call.
    socket.cork();
    let flows = socket.write(bytes);
    if (answer.body && request.method === 'GET') flows = socket.write(answer.body as Buffer);
    socket.uncork();
    if (last) socket.end();
    else if (!flows) waitForDrain(socket);
    if (socket.timeout !== idleTimeoutMs.next) socket.setTimeout(idleTimeoutMs.next);
    onSent?.(request, answer, socket, timed ? performance.now() - began : 0);
  }

  function rendered(request: VisitorRequest, answer: EdgeResponse): { answer: EdgeResponse; text: string } {
    try {
      answer.head.text ??= renderHead(answer.head);
      return { answer, text: answer.head.text };
    } catch (err) {
      const instead = edge.fail(request, err);
      return { answer: instead, text: renderHead(instead.head) };
    }
  }

  function handOff(socket: Socket, chunk: Buffer): void {
    untrack.call(socket);
    socket.off('data', onData);
    socket.off('timeout', destroySocket);
    socket.off('end', endSocket);
    socket.off('error', destroySocket);
    socket.off('close', untrack);
    socket.setTimeout(0);
    socket.unshift(chunk);
    handOver(socket);
  }

  function endSocket(this: Socket): void {
    if (!busy.has(this)) this.end();
  }

  function untrack(this: Socket): void {
    sockets.delete(this);
  }

  return {
    accept,
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
const keepAliveFields = `Connection: keep-alive\r\nKeep-Alive: timeout=${idleTimeoutMs.next / 1000}\r\n\r\n`;
const closeFields = 'Connection: close\r\n\r\n';

/** The host that the client requested a certificate for (SNI); undefined without TLS. */
export function servernameOf(socket: Socket): string | undefined {
  const { encrypted, servername } = socket as Partial<TLSSocket>;
  return encrypted === true ? String(servername || '') : undefined;
}

function destroySocket(this: Socket): void {
  this.destroy();
}

/** Reads no further requests until the client has read its responses. */
function waitForDrain(socket: Socket): void {
  socket.pause();
  socket.once('drain', () => socket.resume());
}
