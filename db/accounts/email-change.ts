import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { EmailChangeStatus } from '#rules/states.ts';
import { Account } from './account.ts';

/**
 * A new address of an account. It takes effect when both addresses have confirmed it, the old one first. Then the old
 * address can undo it, and is reserved, until `expiresAt`.
 */
export const EmailChange = defineEntity({
  name: 'EmailChange',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    email: p.text(),
    /** Null only in changes that an earlier release made. */
    oldEmail: p.text().nullable(),
    /** The name of the token that asked; null where a person did. */
    askedBy: p.text().nullable(),
    /** Of no secret: earlier releases confirm a change with it. */
    hash: p.blob().unique(),
    status: p.text().$type<EmailChangeStatus>(),
    oldConfirmedAt: p.datetime().nullable(),
    createdAt: p.datetime(),
    /** The end of the present state. */
    expiresAt: p.datetime(),
  },
});
export type EmailChange = InferEntity<typeof EmailChange>;
