import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { Scope } from '#rules/scopes.ts';
import { Token } from './token.ts';

export type GrantEndReason = 'refresh_reused' | 'code_reused' | 'client';

/**
 * What an owner granted to an OAuth client. Its access token is a token of the account: one row, which gets a new
 * secret at each refresh. Revoking the token ends the grant.
 */
export const OauthGrant = defineEntity({
  name: 'OauthGrant',
  properties: {
    id: p.text().primary(),
    token: () => p.oneToOne(Token),
    clientHash: p.blob(),
    createdAt: p.datetime(),
    /** Null while it lasts, and where the owner ended it. */
    endReason: p.text().$type<GrantEndReason>().nullable(),
  },
});
export type OauthGrant = InferEntity<typeof OauthGrant>;

/** An authorization code, stored as its hash. It can be redeemed once, within a minute, with the PKCE verifier. */
export const OauthCode = defineEntity({
  name: 'OauthCode',
  properties: {
    hash: p.blob().primary(),
    account: () => p.manyToOne(Account),
    clientHash: p.blob(),
    clientName: p.text(),
    redirectUri: p.text(),
    challenge: p.text(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().nullable(),
    /** What the owner granted. */
    scope: p.json().$type<Scope>(),
    /** The grant that the code was redeemed for. */
    grant: () => p.oneToOne(OauthGrant).nullable(),
  },
});
export type OauthCode = InferEntity<typeof OauthCode>;

/** A refresh token, stored as its hash. Used tokens are retained to detect reuse, a sign of theft. */
export const OauthRefresh = defineEntity({
  name: 'OauthRefresh',
  properties: {
    hash: p.blob().primary(),
    grant: () => p.manyToOne(OauthGrant),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().nullable(),
    /** What its use returned, for repetitions. Encrypted with a key derived from the token itself, which is not stored. */
    successor: p.blob().nullable(),
  },
});
export type OauthRefresh = InferEntity<typeof OauthRefresh>;
