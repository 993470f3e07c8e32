/**
 * Exchanges codes and refresh tokens for tokens, and revokes them. A second use revokes the whole grant, because then
 * two parties have the secret (OAuth 2.1 sections 4.1.2 and 4.3.1). A refresh token that is repeated within a minute
 * returns its successor again: clients with parallel calls send it several times.
 */

import { createHash, timingSafeEqual } from 'node:crypto';
import { LockMode } from '@mikro-orm/core';
import { hashSecret } from '#api/secrets.ts';
import { issueTokenWithinLimit } from '#api/tokens/rules.ts';
import { Account } from '#db/accounts/account.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { repeatsMs } from '#db/auth/oauth-expiry.ts';
import { type GrantEndReason, OauthCode, OauthGrant, OauthRefresh } from '#db/auth/oauth-grant.ts';
import { Token } from '#db/auth/token.ts';
import { revokeWithAllMade } from '#db/auth/token-revocation.ts';
import { platformFor, recordAct } from '#db/history/recording.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Scope } from '#rules/scopes.ts';
import { dayMs, hourMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { decryptWith, deriveKey, encryptWith } from '#runtime/encryption.ts';
import { newId, newSecret } from '#runtime/ids.ts';
import type { Client } from './clients.ts';
import { OauthFault } from './faults.ts';

const accessMs = hourMs;
/**
 * Without a refresh for this long, the owner must approve again. Must be shorter than the retention of expired tokens.
 */
const refreshMs = 29 * dayMs;

export type Issued = { accessToken: string; refreshToken: string; expiresInSeconds: number; scope: Scope };
type Given = { client: Client; code: string; verifier: string; redirectUri: string | undefined };

/** Throws `OauthFault`, and `plan_limit` where the account has reached its limit of tokens. */
export async function exchangeCode(em: EntityManager, deps: Deps, given: Given): Promise<Issued> {
  return await settled(em, async (tx) => {
    const which = { hash: hashSecret(given.code) };
    // The account first, as where all its access is revoked.
    const found = await tx.findOne(OauthCode, which);
    if (found && !found.usedAt) await lockAccount(tx, found.account.id);
    const code = await tx.findOne(OauthCode, which, { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true });
    if (!code || !given.client.hash.equals(code.clientHash)) return badGrant('The code was not issued to this client.');
    const account = await tx.findOneOrFail(Account, { id: code.account.id }, { refresh: true });
    if (account.blockedAt) return badGrant('The account has been blocked by the operator.');
    if (account.deleteAt || account.purgedAt) return badGrant('The account is being deleted.');
    if (code.usedAt) {
      if (code.grant) await endGrant(tx, deps, code.grant.id, 'code_reused');
      return badGrant('The code has already been used, so the access it granted has been revoked.');
    }
    code.usedAt = deps.clock.now();
    if (code.expiresAt <= code.usedAt) return badGrant('The code has expired.');
    if (!isVerifier(given.verifier, code.challenge)) return badGrant('The code_verifier does not match the code.');
    if (given.redirectUri !== undefined && given.redirectUri !== code.redirectUri) {
      return badGrant('The redirect_uri does not match the code.');
    }
    const { grant, issued } = await openGrant(tx, deps, code);
    code.grant = grant;
    return issued;
  });
}

/** Throws `OauthFault`. */
export async function refresh(
  em: EntityManager,
  deps: Deps,
  { client, token }: { client: Client; token: string },
): Promise<Issued> {
  return await settled(em, async (tx) => {
    const now = deps.clock.now();
    const which = { hash: hashSecret(token), grant: { clientHash: client.hash } };
    const found = await tx.findOne(OauthRefresh, which);
    if (!found) return badGrant('The refresh token was not issued to this client.');
    const grant = await tx.findOneOrFail(OauthGrant, { id: found.grant.id }, { lockMode: LockMode.PESSIMISTIC_WRITE });
    const used = await tx.findOneOrFail(OauthRefresh, { hash: found.hash }, { refresh: true });
    const access = await tx.findOneOrFail(Token, { id: grant.token.id }, { refresh: true });
    if (access.revokedAt) return badGrant(ends[grant.endReason ?? 'owner']);
    // The refresh token is not used up, so the client can continue once the account is unblocked.
    if (access.blockReason != null) return badGrant('The account has been blocked by the operator.');
    if (used.usedAt && used.successor && now.getTime() - used.usedAt.getTime() <= repeatsMs)
      return { ...repeated(token, Buffer.from(used.successor), now), scope: access.scope };
    if (used.usedAt) {
      await endGrant(tx, deps, grant.id, 'refresh_reused');
      return badGrant(ends.refresh_reused);
    }
    if (used.expiresAt <= now) return badGrant('The refresh token has expired.');
    used.usedAt = now;
    await tx.flush();
    const issued = renew(tx, now, grant, access);
    used.successor = encryptWith(successorKey(token), JSON.stringify({ ...issued, at: now.getTime() }));
    return issued;
  });
}

/** What the first use of the refresh token returned. */
function repeated(token: string, successor: Buffer, now: Date): Issued {
  const { at, ...issued } = JSON.parse(decryptWith(successorKey(token), successor).toString()) as Issued & {
    at: number;
  };
  const elapsedSeconds = Math.ceil((now.getTime() - at) / 1000);
  return { ...issued, expiresInSeconds: issued.expiresInSeconds - elapsedSeconds };
}

const successorKey = (token: string) => deriveKey(token, 'oauth successor');

/** Revokes the grant of the token (RFC 7009). Tokens of other clients are ignored without an error. */
export async function revoke(
  em: EntityManager,
  deps: Deps,
  { client, token }: { client: Client; token: string },
): Promise<void> {
  const hash = hashSecret(token);
  const byRefresh = await em.findOne(OauthRefresh, { hash, grant: { clientHash: client.hash } });
  const byAccess = await em.findOne(OauthGrant, { clientHash: client.hash, token: { hash } });
  const grantId = byRefresh?.grant.id ?? byAccess?.id;
  if (grantId !== undefined) await em.transactional((tx) => endGrant(tx, deps, grantId, 'client'));
}

/** The changes of a refused request must be committed, so the error is thrown after the transaction. */
async function settled(em: EntityManager, run: (tx: EntityManager) => Promise<Issued | OauthFault>): Promise<Issued> {
  const outcome = await em.transactional(run);
  if (outcome instanceof OauthFault) throw outcome;
  return outcome;
}

async function openGrant(
  tx: EntityManager,
  deps: Deps,
  code: OauthCode,
): Promise<{ grant: OauthGrant; issued: Issued }> {
  const now = deps.clock.now();
  const secret = newSecret('fro');
  const token = await issueTokenWithinLimit(tx, deps, code.account.id, {
    secret,
    name: code.clientName,
    scope: code.scope,
    expiresAt: new Date(now.getTime() + accessMs),
    isRenewable: true,
  });
  const grant = tx.create(OauthGrant, { id: newId('ogrt'), token, clientHash: code.clientHash, createdAt: now });
  return { grant, issued: issuedWith(secret, newRefresh(tx, now, grant), code.scope) };
}

/** Replaces the secret in the same row of the owner's list. The old secret stops working at once. */
function renew(tx: EntityManager, now: Date, grant: OauthGrant, access: Token): Issued {
  const secret = newSecret('fro');
  access.hash = hashSecret(secret);
  access.lastFour = secret.slice(-4);
  access.expiresAt = new Date(now.getTime() + accessMs);
  return issuedWith(secret, newRefresh(tx, now, grant), access.scope);
}

function newRefresh(tx: EntityManager, now: Date, grant: OauthGrant): string {
  const secret = newSecret('frr');
  const expiresAt = new Date(now.getTime() + refreshMs);
  tx.create(OauthRefresh, { hash: hashSecret(secret), grant, createdAt: now, expiresAt });
  return secret;
}

const issuedWith = (accessToken: string, refreshToken: string, scope: Scope): Issued => ({
  accessToken,
  refreshToken,
  expiresInSeconds: accessMs / 1000,
  scope,
});

/**
 * The grant depends on its token: revoking the token ends access and refreshes. The owner gets an e-mail unless the
 * client itself ended it.
 */
async function endGrant(tx: EntityManager, deps: Deps, grantId: string, reason: GrantEndReason): Promise<void> {
  const locked = { lockMode: LockMode.PESSIMISTIC_WRITE, refresh: true } as const;
  const grant = await tx.findOneOrFail(OauthGrant, { id: grantId }, locked);
  const token = await tx.findOneOrFail(Token, { id: grant.token.id }, { refresh: true });
  if (token.revokedAt) return;
  await revokeWithAllMade(tx, token.id, deps.clock.now());
  grant.endReason = reason;
  const by = platformFor(token.account.id);
  recordAct(tx, deps.clock, by, 'token.revoked', { subject: { id: token.id, name: token.name }, detail: { reason } });
  if (reason === 'client') return;
  const { id: account, email: to } = await tx.findOneOrFail(Account, { id: token.account.id });
  queueMail(tx, deps, { kind: 'access-ended', to, data: { client: token.name, cause: reason }, account });
}

const ends: Record<GrantEndReason | 'owner', string> = {
  owner: 'The owner has revoked this access.',
  client: 'The client has revoked this access.',
  code_reused: 'The code was used twice, so the access it granted has been revoked. Connect again.',
  refresh_reused:
    'The refresh token was used again more than 60 seconds after its first use, so its access has been revoked. Connect again.',
};

function isVerifier(verifier: string, challenge: string): boolean {
  if (!/^[\w.~-]{43,128}$/.test(verifier)) return false;
  const made = createHash('sha256').update(verifier).digest('base64url');
  return timingSafeEqual(Buffer.from(made), Buffer.from(challenge));
}

const badGrant = (message: string) => new OauthFault('invalid_grant', message);
