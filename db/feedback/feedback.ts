import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { FeedbackKind, FeedbackStatus } from '#rules/feedback.ts';

/** Feedback about the platform itself, for the operator. */
export const Feedback = defineEntity({
  name: 'Feedback',
  properties: {
    id: p.text().primary(),
    account: () => p.manyToOne(Account),
    kind: p.text().$type<FeedbackKind>(),
    message: p.text(),
    /** The JSON that was sent, as text; it is never parsed. */
    context: p.text().nullable(),
    createdAt: p.datetime(),
    status: p.text().$type<FeedbackStatus>().default('open'),
    /** What the operator answered. */
    answer: p.text().nullable(),
    answeredAt: p.datetime().nullable(),
  },
});
export type Feedback = InferEntity<typeof Feedback>;
