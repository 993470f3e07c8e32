/** A page that its owner must sign in for first. Its address is stored in a cookie, and the page checks it again. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearHostCookie, setHostCookie } from '#api/plugins/browser.ts';
import { minuteMs } from '#rules/time.ts';
import { errors } from '#runtime/errors.ts';

const continueCookie = '__Host-frontage_continue';
const addressMax = 2_800;
/** The same as the lifetime of a sign-in link. */
const signInMs = 15 * minuteMs;
const client = '/oauth/authorize?';
const places = [client, '/account/widen?'];

/** Stores the request's address in a cookie until the sign-in link expires. Throws `invalid_input` if it is too long for one. */
export function savePendingRequest(reply: FastifyReply, { url }: Pick<FastifyRequest, 'url'>, now: Date): void {
  if (url.length > addressMax) {
    throw errors.invalid_input('The request is too long. Sign in first, then open the link or connect the app again.');
  }
  setHostCookie(reply, continueCookie, Buffer.from(url).toString('base64url'), new Date(now.getTime() + signInMs));
}

/**
 * CSP sources for the sign-in form: an invalid authorization request redirects to its client right after the sign-in.
 */
export const sourcesBeyond = (request: Pick<FastifyRequest, 'cookies'>): string[] =>
  savedAddress(request)?.startsWith(client) ? ['https:', 'http:'] : [];

/** The path to continue at after signing in, once. */
export function whereTo(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const address = savedAddress(request);
  if (address !== undefined) clearHostCookie(reply, continueCookie);
  return address;
}

function savedAddress({ cookies }: Pick<FastifyRequest, 'cookies'>): string | undefined {
  const { [continueCookie]: cookie } = cookies;
  const address = cookie === undefined ? '' : Buffer.from(cookie, 'base64url').toString();
  return places.some((place) => address.startsWith(place)) && /^[\x21-\x7e]+$/.test(address) ? address : undefined;
}
