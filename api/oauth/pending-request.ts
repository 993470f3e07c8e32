/** Where a browser goes on that had to sign in first: a cookie of its own holds the question, which is judged anew when it comes back. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearHostCookie, setHostCookie } from '#api/plugins/browser.ts';
import { errors } from '#runtime/errors.ts';

const continueCookie = '__Host-frontage_continue';
const questionMax = 2_800;

/** Remembers the question of this address for as long as a link to sign in is good. Throws `invalid_input` for one too long for a cookie. */
export function savePendingRequest(reply: FastifyReply, { url }: Pick<FastifyRequest, 'url'>, until: Date): void {
  const question = url.slice(url.indexOf('?') + 1);
  if (question.length > questionMax) {
    throw errors.invalid_input('The request of the app is too long. Sign in first, then connect the app again.');
  }
  setHostCookie(reply, continueCookie, Buffer.from(question).toString('base64url'), until);
}

/** Sources that a browser may be led to once it has signed in: to its connector at once, where that has asked in a wrong way. */
export const sourcesBeyond = ({ cookies }: Pick<FastifyRequest, 'cookies'>): string[] =>
  cookies[continueCookie] === undefined ? [] : ['https:', 'http:'];

/** Where this browser was going, as a path of ours; asked once. */
export function whereTo(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const held = request.cookies[continueCookie];
  if (held === undefined) return undefined;
  clearHostCookie(reply, continueCookie);
  const question = Buffer.from(held, 'base64url').toString();
  return /^[\x21-\x7e]+$/.test(question) ? `/oauth/authorize?${question}` : undefined;
}
