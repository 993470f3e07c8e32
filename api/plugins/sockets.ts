/** Limits for connections that have not sent a complete request. */

import type { Socket } from 'node:net';
import type { Readable } from 'node:stream';
import type { Api } from '#api/api.ts';
import { minuteMs } from '#rules/time.ts';
import { errors } from '#runtime/errors.ts';
import { newRequestId } from './headers.ts';

/** Milliseconds. A whole push must fit into `requestTimeout`. Slow headers are a sign of an attack. */
export const timeouts = {
  http: { headersTimeout: 15_000, maxHeaderSize: 32_768, connectionsCheckingInterval: 5_000 },
  requestTimeout: 15 * minuteMs,
  keepAliveTimeout: 72_000,
  connectionTimeout: 0,
} as const;

/** A JSON body is small, so a slower one is disconnected. */
const bodyMs = 30_000;

export function limitBodyTime(scope: Api, timeoutMs = bodyMs): void {
  scope.addHook('preParsing', async (request, _reply, payload) => {
    if (request.routeOptions.config.rawBody) return payload;
    const timer = setTimeout(() => {
      // Only the body has a time limit: the response may take minutes, as when a client follows a build log.
      if (!request.raw.complete) (payload as Readable).destroy();
    }, timeoutMs);
    payload.once('end', () => clearTimeout(timer)).once('close', () => clearTimeout(timer));
    return payload;
  });
}

/**
 * Responds to malformed HTTP, oversized headers and slow requests with an error in the usual format, and closes the
 * connection.
 */
export function refuseBrokenRequests(error: NodeJS.ErrnoException, socket: Socket): void {
  if (error.code === 'ECONNRESET' || socket.destroyed || !socket.writable) return void socket.destroy();
  const body = JSON.stringify({ error: errors.invalid_input(faultOf(error.code)).toBody() });
  socket.end(
    'HTTP/1.1 400 Bad Request\r\nconnection: close\r\ncontent-type: application/json; charset=utf-8\r\n' +
      `x-request-id: ${newRequestId()}\r\nx-content-type-options: nosniff\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
  );
}

function faultOf(code: string | undefined): string {
  if (code === 'HPE_HEADER_OVERFLOW') return 'The request headers are larger than 32 KiB.';
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return 'The request was not received in time.';
  return 'This is not a well-formed HTTP/1.1 request.';
}
