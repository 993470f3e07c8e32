/** Bearer tokens of an account: creation, reading, revocation. */

import { type Actor, loadSite, makerOf, outOfScope, personOf } from '#api/access.ts';
import { payoutsPower, requireSettledAddress } from '#api/accounts/address-hold.ts';
import { requireNotDeleting } from '#api/accounts/blocked.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { recheckAuthorization, unauthorized } from '#api/plugins/bearer.ts';
import { hashSecret } from '#api/secrets.ts';
import { Account } from '#db/accounts/account.ts';
import { renewableTokenIds } from '#db/auth/oauth-expiry.ts';
import { Token } from '#db/auth/token.ts';
import { isOrMade, revokeWithAllMade } from '#db/auth/token-revocation.ts';
import { type ActedBy, recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import { type AskedScope, completeScope, everything, lackingIn, type Scope } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId, newId, newSecret } from '#runtime/ids.ts';
import { queueAgentAdmitted } from './admission-mails.ts';
import { expiryWithin, madeWith } from './expiry.ts';

type Clock = Deps['clock'];
export type NewToken = {
  id?: string;
  /** `fro_…`; generated if absent. */
  secret?: string;
  name: string;
  expiresAt?: Date | undefined;
  /** The token of the caller who asked for it. */
  madeBy?: string | null;
  /** By default everything, for the first token of an account. */
  scope?: Scope | undefined;
};

/** Adds a token to the account and returns it with its secret, which is never stored. Throws `invalid_expiry`. */
export async function issueToken(
  em: EntityManager,
  clock: Clock,
  accountId: string,
  { id = newId('tok'), secret = newSecret('fro'), name, expiresAt, madeBy, scope = everything }: NewToken,
): Promise<{ token: Token; secret: string }> {
  const now = clock.now();
  if (expiresAt && expiresAt <= now) {
    throw errors.invalid_expiry('expires_at must be in the future.', {
      nextAction: 'Send a later expires_at, or omit it for a token that does not expire.',
    });
  }
  requireNotDeleting(await em.findOneOrFail(Account, { id: accountId }, { refresh: true }));
  const token = em.create(Token, {
    id,
    account: em.getReference(Account, accountId),
    name,
    hash: hashSecret(secret),
    lastFour: secret.slice(-4),
    createdAt: now,
    expiresAt: expiresAt ?? null,
    madeBy: madeBy ?? null,
    scope,
  });
  await em.flush();
  return { token, secret };
}

/**
 * Issues a token within the account's limit, in the caller's transaction. `by` is the person who approved it, unless
 * given. The owner is told by e-mail. `isRenewable`: its holder can renew it, so its expiry does not end the access.
 * Throws `plan_limit`, `invalid_expiry`, `address_change_pending`.
 */
export async function issueTokenWithinLimit(
  tx: EntityManager,
  deps: Deps,
  accountId: string,
  {
    by = { accountId },
    isRenewable = false,
    ...input
  }: NewToken & { scope: Scope; by?: ActedBy; isRenewable?: boolean },
): Promise<Token> {
  const { clock } = deps;
  if (input.scope.payouts) await requireSettledAddress(tx, clock, accountId, payoutsPower);
  await countWithinLimit(tx, deps, {
    limit: 'tokens',
    accountId,
    count: async () => tx.count(Token, await usableTokens(tx, accountId, clock.now())),
    what: 'tokens',
    nextAction: `Revoke an unused token with ${call('token.revoke')}.`,
  });
  const { token } = await issueToken(tx, clock, accountId, input);
  const { id, name, scope, expiresAt } = token;
  recordAct(tx, clock, by, 'token.created', {
    subject: { id, name },
    detail: { scope, expires_at: expiresAt ?? null },
  });
  await queueAgentAdmitted(tx, deps, token, { by, isRenewable });
  return token;
}

/**
 * Issues a token for the holder of another one, which it does not outlive and whose scope it does not exceed. Throws
 * `plan_limit`, `invalid_expiry`, `out_of_scope`, and `not_found` for sites that the account has no access to.
 */
export async function createToken(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  input: Omit<NewToken, 'scope'> & { scope?: AskedScope | undefined },
): Promise<Token> {
  const scope = completeScope(actor.handsOn, input.scope);
  // Before the refusal, whose link names only sites of the account.
  const named = input.scope?.sites ?? 'all';
  for (const siteId of named === 'all' ? [] : named) await loadSite(em, personOf(actor.accountId), siteId);
  const missing = lackingIn(actor.handsOn, scope);
  if (missing) throw outOfScope(actor, missing, { handsOn: true });
  return await madeWith(em, actor, async (tx) => {
    const expiresAt = (await expiryWithin(tx, actor, input.expiresAt)) ?? undefined;
    return await issueTokenWithinLimit(tx, deps, actor.accountId, {
      ...input,
      scope,
      expiresAt,
      madeBy: makerOf(actor),
      by: actor,
    });
  });
}

/** A token of the caller's account that is not revoked; it may have expired. Throws `not_found`. */
export async function loadToken(em: EntityManager, actor: Actor, id: string): Promise<Token> {
  const token = await findToken(em, actor, id);
  if (!token.revokedAt) return token;
  throw noSuchToken();
}

/** Like `loadToken`, also for a revoked one. */
async function findToken(em: EntityManager, actor: Actor, id: string): Promise<Token> {
  const token = isId('tok', id) ? await em.findOne(Token, { id, account: actor.accountId }) : null;
  if (token) return token;
  throw noSuchToken();
}

function noSuchToken() {
  return errors.not_found('The account has no token with this id.', {
    nextAction: `Call ${call('token.list')} to list the account’s tokens.`,
  });
}

export async function renameToken(
  em: EntityManager,
  clock: Clock,
  actor: Actor,
  id: string,
  name: string,
): Promise<Token> {
  const token = await loadToken(em, actor, id);
  recordAct(em, clock, actor, 'token.renamed', { subject: token, detail: { name: { from: token.name, to: name } } });
  token.name = name;
  await em.flush();
  return token;
}

/**
 * Gives the caller's token, or one that was made with it, a new secret. The row and what was made with it stay. Throws
 * `not_found`, and `token_not_yours` for another token: its secret would outlast the caller's own access.
 */
export async function rotateToken(
  em: EntityManager,
  clock: Clock,
  actor: Actor,
  id: string,
  { current, secret }: { current: string; secret: string },
): Promise<Token> {
  const token = await loadToken(em, actor, id);
  if (!(await isOrMade(em, actor.tokenId, token.id))) {
    throw errors.token_not_yours('A token can rotate itself and the tokens that were made with it, and no others.', {
      nextAction: `Call ${call('token.rotate', { id })} with that token. If its secret was stolen, revoke it: ${call('token.revoke', { id })}.`,
    });
  }
  // An owner may have given a token more than the token that made it.
  const missing = lackingIn(actor.handsOn, token.scope);
  if (missing) throw outOfScope(actor, missing, { handsOn: true });
  // Of two calls with one secret, the second is refused. A revocation of the caller reaches the token by its row.
  const own = token.id === actor.tokenId ? { hash: hashSecret(current) } : {};
  const changed = { hash: hashSecret(secret), lastFour: secret.slice(-4) };
  // An earlier run of this call replaced it, and its answer was lost.
  if (Buffer.compare(token.hash, changed.hash) === 0) return token;
  await em.transactional(async (tx) => {
    if ((await tx.nativeUpdate(Token, { id, revokedAt: null, ...own }, changed)) === 0) throw unauthorized();
    // The caller's own secret may have been replaced meanwhile.
    await recheckAuthorization(tx, { clock }, actor);
    await tx.execute('update token set rotations = rotations + 1 where id = ?', [id]);
    recordAct(tx, clock, actor, 'token.rotated', { subject: token });
  });
  return await em.refreshOrFail(token);
}

/**
 * Revokes a token at once, with what was made with it. Revoking it again changes nothing. Throws `current_token` for
 * the caller's own token, and for one that it comes from.
 */
export async function revokeToken(em: EntityManager, clock: Clock, actor: Actor, id: string): Promise<Token> {
  const token = await findToken(em, actor, id);
  if (token.revokedAt) return token;
  if (await isOrMade(em, token.id, actor.tokenId)) {
    throw errors.current_token('A token can revoke neither itself nor a token that it was made with.', {
      nextAction: `Use a different token from the same account to call ${call('token.revoke', { id })}.`,
    });
  }
  await em.transactional(async (tx) => {
    await revokeWithAllMade(tx, token.id, clock.now());
    recordAct(tx, clock, actor, 'token.revoked', { subject: { id, name: token.name } });
  });
  return await em.refreshOrFail(token);
}

/**
 * The condition for tokens that are valid, or that an OAuth client can renew without approval. The limit counts them,
 * and the owner sees them. So a client does not lose its place between two access tokens, and a refresh never exceeds
 * the limit.
 */
export async function usableTokens(em: EntityManager, accountId: string, now: Date) {
  const renewable = await renewableTokenIds(em, accountId, now);
  const valid = [{ expiresAt: null }, { expiresAt: { $gt: now } }, { id: { $in: renewable } }];
  return { account: accountId, revokedAt: null, $or: valid };
}
