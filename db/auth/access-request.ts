import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { AccessRequestStatus } from '#rules/states.ts';
import { Token } from './token.ts';

/**
 * An agent's wish for a token, to be approved by the owner of the address. The agent holds the secret and the code, the mail the
 * link: here are their hashes. `expiresAt` is until when the owner can answer, and once approved, until when the agent can redeem.
 */
export const AccessRequest = defineEntity({
  name: 'AccessRequest',
  properties: {
    id: p.text().primary(),
    email: p.text(),
    /** From the approval on; none where the address has no account and none is opened. */
    account: () => p.manyToOne(Account).nullable(),
    agentName: p.text(),
    /** Name of the account that the approval opens, if it does. */
    accountName: p.text().nullable(),
    /** Network address of who asks, for the owner to judge. */
    askedFrom: p.text(),
    codeHash: p.blob(),
    secretHash: p.blob().unique(),
    linkHash: p.blob().unique(),
    status: p.text().$type<AccessRequestStatus>(),
    wrongCodes: p.integer().default(0),
    lastPolledAt: p.datetime().nullable(),
    token: () => p.oneToOne(Token).nullable(),
    createdAt: p.datetime(),
    answeredAt: p.datetime().nullable(),
    expiresAt: p.datetime(),
  },
});
export type AccessRequest = InferEntity<typeof AccessRequest>;
