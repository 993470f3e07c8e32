/**
 * Validates authorization requests of OAuth clients (RFC 6749 section 4.1.1, OAuth 2.1, RFC 7636, RFC 8707), and
 * creates the code after the owner's approval.
 */

import { payoutsPower, requireSettledAddress } from '#api/accounts/address-hold.ts';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import { OauthCode } from '#db/auth/oauth-grant.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Scope } from '#rules/scopes.ts';
import type { Config } from '#runtime/config.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { newSecret } from '#runtime/ids.ts';
import { type Client, mayLeadTo, readClient } from './clients.ts';
import { OauthFault } from './faults.ts';
import { resourceOf } from './metadata.ts';

const codeMs = 60_000;

export type AuthorizationRequest = {
  client: Client;
  redirectUri: string;
  state: string | undefined;
  challenge: string;
};

/**
 * Throws `invalid_input`, shown to the owner. No fault is reported by a redirect to the client: anyone can register any
 * address, so our links would redirect anywhere without a person's consent (RFC 9700 section 4.11.2).
 */
export function validateAuthorizationRequest(config: Config, query: Record<string, unknown>): AuthorizationRequest {
  const one = (name: string) => (typeof query[name] === 'string' ? query[name] : undefined);
  const client = readClient(config, one('client_id') ?? '');
  if (!client)
    throw errors.invalid_input('This app is not registered with us. Start the connection again from the app.');
  const redirectUri = one('redirect_uri');
  if (redirectUri === undefined || !mayLeadTo(client, redirectUri)) {
    throw errors.invalid_input(
      'The app that sent you here asked for a redirect to an address that it had not registered. No access was granted.',
    );
  }
  const state = one('state');
  const fault = faultIn(config, query, one);
  if (fault) throw errors.invalid_input(`The app’s request is not valid: ${fault} No access was granted.`);
  return { client, redirectUri, state, challenge: one('code_challenge') ?? '' };
}

function faultIn(
  config: Config,
  query: Record<string, unknown>,
  one: (name: string) => string | undefined,
): string | undefined {
  // RFC 8707 allows several `resource` parameters; our tokens are for one resource.
  const twice = Object.keys(query).find((name) => Array.isArray(query[name]));
  if (twice !== undefined) return `${twice.slice(0, 40)} was sent more than once.`;
  if (one('response_type') !== 'code') return 'response_type must be code.';
  if (one('code_challenge_method') !== 'S256') return 'code_challenge_method must be S256.';
  if (!/^[\w-]{43}$/.test(one('code_challenge') ?? '')) return 'code_challenge must be a SHA-256 hash in base64url.';
  return resourceFault(config, one('resource'))?.message;
}

/** There is only one resource. Older clients do not send the parameter. */
export function resourceFault(config: Config, resource: string | undefined): OauthFault | undefined {
  if (resource === undefined || resource === resourceOf(config)) return undefined;
  return new OauthFault('invalid_target', `The resource must be ${resourceOf(config)}.`);
}

/**
 * Creates the authorization code after the approval of this scope in this session. Throws `address_change_pending`, and
 * `expired` if the session has ended meanwhile.
 */
export async function newCode(
  em: EntityManager,
  { clock }: Deps,
  { session, authorization, scope }: { session: BrowserSession; authorization: AuthorizationRequest; scope: Scope },
): Promise<string> {
  const code = newSecret('frc');
  const accountId = session.account.id;
  await em.transactional(async (tx) => {
    // Waits for what ends the sessions of the account: a change of its address, or its deletion.
    await tx.execute('select 1 from account where id = ? for key share', [accountId]);
    if ((await tx.count(BrowserSession, { id: session.id })) === 0)
      throw errors.expired('You have been signed out. Sign in, then connect the app again.');
    if (scope.payouts) await requireSettledAddress(tx, clock, accountId, payoutsPower);
    const now = clock.now();
    tx.create(OauthCode, {
      hash: hashSecret(code),
      account: tx.getReference(Account, accountId),
      clientHash: authorization.client.hash,
      clientName: authorization.client.name,
      redirectUri: authorization.redirectUri,
      challenge: authorization.challenge,
      scope,
      createdAt: now,
      expiresAt: new Date(now.getTime() + codeMs),
    });
  });
  return code;
}

/** The redirect to the client with the result. `iss` identifies this server (RFC 9207). */
export function answerAddress(
  { baseUrl }: Config,
  { redirectUri, state }: { redirectUri: string; state: string | undefined },
  answer: { code: string } | OauthFault,
): string {
  const address = new URL(redirectUri);
  const { searchParams: query } = address;
  if (answer instanceof OauthFault) {
    query.set('error', answer.code);
    query.set('error_description', answer.message);
  } else query.set('code', answer.code);
  if (state !== undefined) query.set('state', state);
  query.set('iss', baseUrl);
  return address.href;
}
