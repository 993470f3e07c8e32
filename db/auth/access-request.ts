import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { Scope } from '#rules/scopes.ts';
import type { AccessRequestStatus } from '#rules/states.ts';
import { Token } from './token.ts';

/**
 * An agent's request for a token, to be approved by the owner of the e-mail address. The agent has the secret and the
 * code; the e-mail contains the link. The row stores their hashes. `expiresAt` is the owner's deadline, and after
 * approval the agent's deadline to redeem it.
 */
export const AccessRequest = defineEntity({
  name: 'AccessRequest',
  properties: {
    id: p.text().primary(),
    email: p.text(),
    /** Set on approval; null if the address has no account and none is created. */
    account: () => p.manyToOne(Account).nullable(),
    agentName: p.text(),
    /** Name of the account that the approval creates, if any. */
    accountName: p.text().nullable(),
    /** Network address of the requester, shown to the owner. */
    askedFrom: p.text(),
    /** Key of the requester's network, for the hourly limit. */
    network: p.text().nullable(),
    /** False where the address had received too many e-mails: the request is on the owner's page only. */
    mailed: p.boolean().default(true),
    codeHash: p.blob(),
    secretHash: p.blob().unique(),
    linkHash: p.blob().unique(),
    status: p.text().$type<AccessRequestStatus>(),
    /** Why it expired before its deadline. */
    endReason: p.text().$type<'wrong_codes' | 'address_changed'>().nullable(),
    wrongCodes: p.integer().default(0),
    lastPolledAt: p.datetime().nullable(),
    /** What the owner granted; null before that. */
    scope: p.json().$type<Scope>().nullable(),
    token: () => p.oneToOne(Token).nullable(),
    createdAt: p.datetime(),
    answeredAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
  },
});
export type AccessRequest = InferEntity<typeof AccessRequest>;
