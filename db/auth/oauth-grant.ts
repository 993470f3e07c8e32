import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Token } from './token.ts';

/**
 * What an owner let a connector have. Its access token is one of the account's, a single row that each refresh gives a new secret; whoever revokes that
 * ends the grant.
 */
export const OauthGrant = defineEntity({
  name: 'OauthGrant',
  properties: {
    id: p.text().primary(),
    token: () => p.oneToOne(Token),
    clientHash: p.blob(),
    createdAt: p.datetime(),
  },
});
export type OauthGrant = InferEntity<typeof OauthGrant>;

/** An authorization code, by its hash; good once, within a minute, for who knows the verifier. */
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
    /** What came of it. */
    grant: () => p.oneToOne(OauthGrant).nullable(),
  },
});
export type OauthCode = InferEntity<typeof OauthCode>;

/** A refresh token, by its hash. A used one is kept: who shows it again has stolen it, or was stolen from. */
export const OauthRefresh = defineEntity({
  name: 'OauthRefresh',
  properties: {
    hash: p.blob().primary(),
    grant: () => p.manyToOne(OauthGrant),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
    usedAt: p.datetime().nullable(),
  },
});
export type OauthRefresh = InferEntity<typeof OauthRefresh>;
