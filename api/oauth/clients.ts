/**
 * Dynamic registration of OAuth clients (RFC 7591). Anyone may register any number of clients, so none is stored: a
 * client's id is its signed registration. Clients have no secret; PKCE and the redirect URI protect the flow (OAuth 2.1
 * section 2.4).
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { hashSecret } from '#api/secrets.ts';
import type { Config } from '#runtime/config.ts';
import { deriveKey } from '#runtime/encryption.ts';
import { OauthFault } from './faults.ts';

/** `hash` is the hash of the client's id, which rows store instead of the id. */
export type Client = { name: string; redirectUris: string[]; hash: Buffer };

const urisMax = 10;
const urisCharactersMax = 1_000;
const nameMax = 60;

const registration = z.object({
  redirect_uris: z.array(z.string()).min(1).max(urisMax),
  client_name: z.string().trim().min(1).max(nameMax).refine(isPlain).optional(),
  grant_types: z.array(z.string()).default(['authorization_code']),
  response_types: z.array(z.string()).default(['code']),
});

export type Registered = { clientId: string; name: string; redirectUris: string[]; issuedAt: number };

/** Registers a client. Unknown metadata is ignored (RFC 7591 section 2). Throws `OauthFault`. */
export function registerClient({ secret }: Config, now: Date, body: unknown): Registered {
  const read = registration.safeParse(body);
  if (!read.success) throw faultOf(read.error.issues[0]?.path[0]);
  const { redirect_uris: redirectUris, client_name, grant_types, response_types } = read.data;
  if (!grant_types.includes('authorization_code') || !response_types.includes('code')) {
    throw new OauthFault(
      'invalid_client_metadata',
      'Only the grant type authorization_code with the response type code is supported.',
    );
  }
  if (!redirectUris.every(isRedirectUri) || redirectUris.join('').length > urisCharactersMax) {
    throw new OauthFault(
      'invalid_redirect_uri',
      'Each redirect_uri must be an https URL, or an http URL on the loopback interface, and must not contain a fragment.',
    );
  }
  const name = client_name ?? hostOf(redirectUris[0] as string).slice(0, nameMax);
  const issuedAt = Math.floor(now.getTime() / 1000);
  const payload = Buffer.from(JSON.stringify([name, redirectUris, issuedAt])).toString('base64url');
  return { clientId: `${payload}.${sign(secret, payload)}`, name, redirectUris, issuedAt };
}

/** The client with this id; `undefined` if we did not sign the id. */
export function readClient({ secret }: Config, clientId: string): Client | undefined {
  const [payload = '', signature = '', ...rest] = clientId.split('.');
  const wanted = Buffer.from(sign(secret, payload));
  const sent = Buffer.from(signature);
  if (rest.length > 0 || sent.length !== wanted.length || !timingSafeEqual(sent, wanted)) return undefined;
  const [name, redirectUris] = JSON.parse(Buffer.from(payload, 'base64url').toString()) as [string, string[], number];
  return { name, redirectUris, hash: hashSecret(clientId) };
}

/**
 * Whether the client has registered this redirect URI: exactly, except for the port of a loopback address (RFC 8252
 * section 7.3).
 */
export function mayLeadTo({ redirectUris }: Client, uri: string): boolean {
  return (
    isRedirectUri(uri) &&
    redirectUris.some((one) => one === uri || (isLoopback(one) && portless(one) === portless(uri)))
  );
}

/** The host of a redirect URI, for people. */
export function hostOf(uri: string): string {
  return isLoopback(uri) ? 'a program on this device' : new URL(uri).host;
}

/**
 * CSP sources that allow the redirect to this URI after a form. Browsers apply the policy of the form's page to every
 * later redirect too, and the client's own redirects are unknown: so all of HTTPS is allowed. Plain HTTP is only
 * allowed for loopback addresses, and then in general, because a CSP cannot contain an IPv6 address.
 */
export function sourcesOf(uri: string): string[] {
  return isLoopback(uri) ? ['https:', 'http:'] : ['https:'];
}

function isRedirectUri(uri: string): boolean {
  if (!/^[\x21-\x7e]{1,500}$/.test(uri) || /["'<>\\^`{|}#;,]/.test(uri) || !URL.canParse(uri)) return false;
  const { protocol, username, password } = new URL(uri);
  return username === '' && password === '' && (protocol === 'https:' || isLoopback(uri));
}

function isLoopback(uri: string): boolean {
  const { protocol, hostname } = new URL(uri);
  return protocol === 'http:' && ['127.0.0.1', '[::1]', 'localhost'].includes(hostname);
}

function portless(uri: string): string {
  const url = new URL(uri);
  url.port = '';
  return url.href;
}

/** One line of text, without bidirectional control characters and without a URL. */
function isPlain(text: string): boolean {
  return (
    text.isWellFormed() &&
    !/[\p{C}\p{Zl}\p{Zp}\u115f\u1160\u3164\uffa0]|:\/\//u.test(text) &&
    /[\p{L}\p{N}]/u.test(text)
  );
}

function faultOf(field: PropertyKey | undefined): OauthFault {
  if (field === 'redirect_uris')
    return new OauthFault('invalid_redirect_uri', `redirect_uris must be a list of 1 to ${urisMax} URLs.`);
  const what =
    field === undefined ? 'The body must be a client registration in JSON.' : `${String(field)} is not valid.`;
  const name =
    field === 'client_name'
      ? ` It must be a single line of text without a web address, at most ${nameMax} characters long.`
      : '';
  return new OauthFault('invalid_client_metadata', `${what}${name}`);
}

function sign(secret: string, payload: string): string {
  const key = deriveKey(secret, 'oauth client');
  return createHmac('sha256', key).update(payload).digest('base64url');
}
