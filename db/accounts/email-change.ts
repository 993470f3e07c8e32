import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { EmailChangeStatus } from '#rules/states.ts';
import { Account } from './account.ts';

/** A new address of an account, which takes effect when the e-mailed link is confirmed. */
export const EmailChange = defineEntity({
  name: 'EmailChange',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    email: p.text(),
    hash: p.blob().unique(),
    status: p.text().$type<EmailChangeStatus>(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
export type EmailChange = InferEntity<typeof EmailChange>;
