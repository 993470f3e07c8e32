/** An authorization request whose owner must sign in first. It is stored in a cookie and validated again afterwards. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearHostCookie, setHostCookie } from '#api/plugins/browser.ts';
import { errors } from '#runtime/errors.ts';

const continueCookie = '__Host-frontage_continue';
const questionMax = 2_800;

/**
 * Stores the request's query in a cookie until the sign-in link expires. Throws `invalid_input` if it is too long for a
 * cookie.
 */
export function savePendingRequest(reply: FastifyReply, { url }: Pick<FastifyRequest, 'url'>, until: Date): void {
  const question = url.slice(url.indexOf('?') + 1);
  if (question.length > questionMax) {
    throw errors.invalid_input('The app’s request is too long. Sign in first, then connect the app again.');
  }
  setHostCookie(reply, continueCookie, Buffer.from(question).toString('base64url'), until);
}

/**
 * CSP sources for the sign-in form: an invalid authorization request redirects to its client right after the sign-in.
 */
export const sourcesBeyond = ({ cookies }: Pick<FastifyRequest, 'cookies'>): string[] =>
  cookies[continueCookie] === undefined ? [] : ['https:', 'http:'];

/** The path to continue at after signing in, once. */
export function whereTo(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const cookie = request.cookies[continueCookie];
  if (cookie === undefined) return undefined;
  clearHostCookie(reply, continueCookie);
  const question = Buffer.from(cookie, 'base64url').toString();
  return /^[\x21-\x7e]+$/.test(question) ? `/oauth/authorize?${question}` : undefined;
}
