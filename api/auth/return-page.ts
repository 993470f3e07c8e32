/**
 * The page that a person wanted to open before they signed in. Its address is stored in a cookie of their browser, and
 * the page checks everything again.
 */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { clearHostCookie, setHostCookie } from '#api/plugins/browser.ts';
import { errors } from '#runtime/errors.ts';
import { signinMs } from './signin.ts';

const returnCookie = '__Host-frontage_continue';
const addressMax = 2_800;
const client = '/oauth/authorize?';
const widening = '/account/widen?';
const places = [client, '/account/', '/invitations/'];
/** Their forms are sent to the page's own address. */
const ownForms = [client, widening];

/** Where a browser without a session signs in for this page, with a hint what it is for. */
export function signinFor(url: string): string {
  if (url.startsWith(client)) return '/signin?for=client';
  if (url.startsWith(widening)) return '/signin?for=agent';
  return url.startsWith('/invitations/') ? '/signin?for=invitation' : '/signin';
}

/**
 * Stores the request's address in a cookie, for as long as a sign-in takes at most, if it is a page to return to: not
 * what a page's script or picture asks for. Throws `invalid_input` if it is too long for one.
 */
export function saveReturnPage(
  reply: FastifyReply,
  { url, method, headers }: Pick<FastifyRequest, 'url' | 'method' | 'headers'>,
  now: Date,
): void {
  const { 'sec-fetch-dest': shownAs = 'document' } = headers;
  if (shownAs !== 'document') return;
  if (!isPlace(url) || (method !== 'GET' && !ownForms.some((form) => url.startsWith(form)))) return;
  if (url.length > addressMax) {
    throw errors.invalid_input('The request is too long. Sign in first, then open the link or connect the app again.');
  }
  setHostCookie(reply, returnCookie, Buffer.from(url).toString('base64url'), new Date(now.getTime() + signinMs));
}

/**
 * CSP sources for the sign-in form: an invalid authorization request redirects to its client right after the sign-in.
 */
export const sourcesBeyond = (request: Pick<FastifyRequest, 'cookies'>): string[] =>
  savedAddress(request)?.startsWith(client) ? ['https:', 'http:'] : [];

/** The path to continue at after signing in, once. */
export function whereTo(request: FastifyRequest, reply: FastifyReply): string | undefined {
  const address = savedAddress(request);
  if (address !== undefined) clearHostCookie(reply, returnCookie);
  return address;
}

function savedAddress({ cookies }: Pick<FastifyRequest, 'cookies'>): string | undefined {
  const { [returnCookie]: cookie } = cookies;
  const address = cookie === undefined ? '' : Buffer.from(cookie, 'base64url').toString();
  return isPlace(address) ? address : undefined;
}

/** A path of the platform, in printable ASCII. */
function isPlace(address: string): boolean {
  return places.some((place) => address.startsWith(place)) && /^[\x21-\x7e]+$/.test(address);
}
