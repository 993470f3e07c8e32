/** Errors in OAuth's format (RFC 6749 sections 4.1.2.1 and 5.2, RFC 7591 section 3.2.2, RFC 8707 section 2). */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Api } from '#api/api.ts';
import { beginError } from '#api/plugins/errors.ts';

export type FaultCode =
  | 'invalid_request'
  | 'invalid_client'
  | 'invalid_grant'
  | 'invalid_target'
  | 'invalid_redirect_uri'
  | 'invalid_client_metadata'
  | 'access_denied'
  | 'unsupported_grant_type'
  | 'temporarily_unavailable'
  | 'server_error';

/** `message` is sent as `error_description`. */
export class OauthFault extends Error {
  readonly code: FaultCode;
  constructor(code: FaultCode, message: string) {
    super(message);
    this.name = 'OauthFault';
    this.code = code;
  }
}

/**
 * Returns errors of the scope as `{ error, error_description }`. `unreadable` is the code for a body that cannot be
 * parsed.
 */
export function answerFaults(scope: Api, unreadable: FaultCode): void {
  scope.setErrorHandler((error, request, reply) => sendFault(error, { request, reply, unreadable }));
}

function sendFault(
  error: unknown,
  { request, reply, unreadable }: { request: FastifyRequest; reply: FastifyReply; unreadable: FaultCode },
): FastifyReply {
  reply.header('cache-control', 'no-store');
  if (error instanceof OauthFault) {
    // RFC 6749 section 5.2: an unknown client gets 401.
    return reply.code(error.code === 'invalid_client' ? 401 : 400).send(bodyOf(error.code, error.message));
  }
  const { code, message } = beginError(error, request, reply);
  if (code === 'internal') return reply.send(bodyOf('server_error', message));
  if (code === 'rate_limited' || reply.statusCode === 503)
    return reply.send(bodyOf('temporarily_unavailable', message));
  if (code === 'plan_limit') return reply.code(400).send(bodyOf('access_denied', message));
  return reply.send(bodyOf(unreadable, message));
}

const bodyOf = (error: FaultCode, description: string) => ({ error, error_description: description });
