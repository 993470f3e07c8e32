/** HTTP/2 (RFC 9113): connections with bounded resources, whose requests the common handlers answer. See docs/decisions/platform/058. */
import type { Socket } from 'node:net';
import type { Logger } from 'pino';
import { hourMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { createShares } from '#runtime/shares.ts';
import { createDateField } from './date-field.ts';
import { type OnSent, servernameOf } from './fast-path.ts';
import { type Connection, openConnection } from './http2/connection.ts';
import { encodeField } from './http2/hpack.ts';
import { createResponder } from './http2/responses.ts';
import { networkOf } from './network.ts';
import type { RequestHandlers } from './node-http.ts';
import type { OpenLimits } from './open-bodies.ts';

export type Http2 = {
  accept(socket: Socket): void;
  /** Lets each connection finish its streams, and accepts no new ones. */
  end(): void;
};

const idleMs = 30_000;
/** Ends even an active connection: a browser opens another. */
const connectionMaxMs = hourMs;

type Options = {
  handlers: RequestHandlers;
  onSent: OnSent | undefined;
  clock: Clock;
  log: Logger;
  /** Closes a stream whose client reads nothing for this long. */
  stalledMs: number;
  /** How many are open at a time. */
  streams: OpenLimits['streams'];
};

export function createHttp2({ handlers, onSent, clock, log, stalledMs, streams }: Options): Http2 {
  const connections = new Set<Connection>();
  const shares = createShares(streams);
  const dateField = createDateField(clock, (date) => encodeField('date', date));
  const answer = createResponder({ handlers, onSent, dateField });
  const onError = (err: unknown) => log.error({ err }, 'a connection of HTTP/2 failed');
  let isEnding = false;

  return {
    accept(socket) {
      const network = networkOf(socket.remoteAddress ?? '');
      const connection = openConnection({
        socket,
        servername: servernameOf(socket) ?? '',
        take: () => shares.take(network),
        answer: (of, stream) => answer(of, stream, network),
        onError,
        stalledMs,
        idleMs,
      });
      connections.add(connection);
      const old = setTimeout(connection.end, connectionMaxMs).unref();
      socket.once('close', () => {
        clearTimeout(old);
        connections.delete(connection);
      });
      if (isEnding) connection.end();
    },
    end() {
      isEnding = true;
      for (const connection of connections) connection.end();
    },
  };
}
