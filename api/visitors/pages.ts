/** Responses at an address that answers programs with JSON and browsers with a page. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { sendErrorPage } from '#api/plugins/browser.ts';
import { asAppError, sendError } from '#api/plugins/errors.ts';

/**
 * Whether the Accept header names `text/html`, as browsers do for a page (RFC 9110 section 12.5.1). Wildcards name
 * nothing, and a weight of 0 refuses it.
 */
export function namesHtml({ headers }: Pick<FastifyRequest, 'headers'>): boolean {
  return (headers.accept ?? '').split(',').some((range) => {
    const [type, ...parameters] = range.split(';').map((part) => part.trim().toLowerCase());
    return type === 'text/html' && !parameters.some((one) => /^q=0(\.0*)?$/.test(one));
  });
}

/** The error handler of such an address: the same error with the same status, as a page or as JSON. */
export function sendErrorAsAsked(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  if (namesHtml(request)) sendErrorPage(asAppError(error, request), request, reply);
  else sendError(error, request, reply);
}
