import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { FeedbackKind } from '#rules/states.ts';

/** A note about the platform itself, for whoever runs it. */
export const Feedback = defineEntity({
  name: 'Feedback',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    kind: p.text().$type<FeedbackKind>(),
    message: p.text(),
    /** JSON as it was sent, as text: nothing here looks inside. */
    context: p.text().nullable(),
    createdAt: p.datetime(),
  },
});
export type Feedback = InferEntity<typeof Feedback>;
