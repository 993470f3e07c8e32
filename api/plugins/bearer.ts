/**
 * Authentication by `Authorization: Bearer fro_…`. Only hashes of tokens are stored, so the lookup by hash is the whole
 * check.
 */
import type { FastifyRequest } from 'fastify';
import type { Actor } from '#api/access.ts';
import { accountBlocked } from '#api/accounts/blocked.ts';
import type { Api } from '#api/api.ts';
import { hashSecret } from '#api/secrets.ts';
import { BrowserSession } from '#db/auth/browser-session.ts';
import { Token } from '#db/auth/token.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, withRemedy } from '#runtime/errors.ts';
import { limitFailedSignIns } from './rate-limit.ts';

/** The last use of a token is stored at most this often. */
const lastUsedStepMs = 60_000;

/** Requires a token for all routes of the scope, or an internal request of a signed-in person. Sets `request.em` and `request.actor`. */
export function requireToken(scope: Api, deps: Deps): void {
  const countFailure = limitFailedSignIns(scope, deps);
  scope.addHook('onRequest', async (request, reply) => {
    request.em = deps.em();
    const actor = await readActor(request, deps);
    if (actor) request.actor = actor;
    else throw (await countFailure(request, reply)) ?? unauthorized();
  });
}

/** For scopes without tokens: sets `request.em`. */
export function useEntityManager(scope: Api, deps: Deps): void {
  scope.addHook('onRequest', async (request) => {
    request.em = deps.em();
  });
}

/** The secret in the header, or `undefined` if it does not have the form of a token. */
export function bearerSecret(request: FastifyRequest): string | undefined {
  return /^Bearer +(fro_[\w-]{43})$/i.exec(request.headers.authorization ?? '')?.[1];
}

/**
 * For long requests. Throws `unauthorized` if the token was revoked, rotated or has expired since the request began, and
 * `access_denied` if its account was blocked.
 */
export async function recheckAuthorization(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Actor,
): Promise<void> {
  const current = await readCurrent(em, clock.now(), actor);
  if (!current) throw unauthorized();
  if (current.blockReason != null) throw accountBlocked(current.blockReason);
}

/** Like `recheckAuthorization`, as a boolean, for streams that end without an error message. */
export async function isStillGood(em: EntityManager, { clock }: Pick<Deps, 'clock'>, actor: Actor): Promise<boolean> {
  const current = await readCurrent(em, clock.now(), actor);
  return current !== null && current.blockReason == null;
}

/** Reads the current row, without the identity map of the request. Null if it gives no access any more. */
async function readCurrent(em: EntityManager, now: Date, actor: Actor): Promise<Pick<Token, 'blockReason'> | null> {
  if (actor.isSession) {
    const own = { id: actor.tokenId, expiresAt: { $gt: now }, account: { deleteAt: null } };
    const session = await em.findOne(BrowserSession, own, { populate: ['account'], disableIdentityMap: true });
    return session && { blockReason: session.account.blockReason ?? null };
  }
  const token = await em.findOne(Token, { id: actor.tokenId }, { disableIdentityMap: true });
  return token && isGood(token, now, actor) ? token : null;
}

/** A rotation since the call began has replaced the secret that it sent. The refresh of an OAuth client does not count. */
function isGood(token: Token, now: Date, { rotations = token.rotations }: Partial<Actor> = {}): boolean {
  const { revokedAt, expiresAt } = token;
  return !revokedAt && !(expiresAt && expiresAt <= now) && token.rotations === rotations;
}

async function readActor(request: FastifyRequest, deps: Deps): Promise<Actor | undefined> {
  // The page has read the session.
  if (request.internal?.person) return request.internal.person.actor;
  const secret = bearerSecret(request);
  if (secret === undefined) return undefined;
  const now = deps.clock.now();
  const token = await request.em.findOne(Token, { hash: hashSecret(secret) }, { disableIdentityMap: true });
  if (!token || !isGood(token, now)) return undefined;
  if (token.blockReason != null) throw accountBlocked(token.blockReason);
  if (!token.lastUsedAt || now.getTime() - token.lastUsedAt.getTime() >= lastUsedStepMs) {
    await request.em.nativeUpdate(Token, { id: token.id, lastUsedAt: token.lastUsedAt }, { lastUsedAt: now });
  }
  const via = { kind: 'token', name: token.name } as const;
  const { account, id: tokenId, rotations, scope } = token;
  return { accountId: account.id, tokenId, rotations, via, scope, handsOn: scope };
}

export function unauthorized(): AppError {
  return withRemedy('unauthorized', 'The token is missing, unknown, expired or revoked.');
}
