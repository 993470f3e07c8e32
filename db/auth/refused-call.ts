import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { EntityManager } from '#db/orm.ts';
import type { PartOfScope } from '#rules/scopes.ts';
import { Token } from './token.ts';

export type RefusalAnswer = 'once' | 'always' | 'refused';

/**
 * A call that was refused because its token lacks something, and for which the owner got a link. One row for each token,
 * operation and subject. It expires with its link.
 */
export const RefusedCall = defineEntity({
  name: 'RefusedCall',
  properties: {
    id: p.text().primary(),
    token: () => p.manyToOne(Token),
    account: () => p.manyToOne(Account),
    operation: p.text(),
    subject: p.text(),
    summary: p.text(),
    missing: p.json().$type<PartOfScope>(),
    handsOn: p.boolean(),
    /** The owner's; null before it. */
    answer: p.text().$type<RefusalAnswer>().nullable(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
export type RefusedCall = InferEntity<typeof RefusedCall>;

/** Deletes refused calls whose links have expired. Returns how many. */
export async function sweepRefusedCalls(em: EntityManager, now: Date): Promise<number> {
  return await em.nativeDelete(RefusedCall, { expiresAt: { $lt: now } });
}
