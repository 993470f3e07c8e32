import type { EntityManager } from '#db/orm.ts';
import type { PlanSubject } from '#rules/plan-limits.ts';
import { subscriptionsSql } from './account-sql.ts';

/**
 * Locks the account until the transaction ends, so that everything that counts against its limits is serialised.
 * Returns its plans. `no key update` does not block rows that only reference the account, such as a deployment on
 * another owner's site: two accounts that work on each other's sites would deadlock.
 */
export async function lockAccount(tx: EntityManager, accountId: string): Promise<PlanSubject> {
  const [row] = await tx.execute<{ subscriptions: string | null }[]>(
    `select ${subscriptionsSql('account.id')} as subscriptions from account where id = ? for no key update`,
    [accountId],
  );
  return { subscriptions: row?.subscriptions };
}
