/** Which plans an account has, as a part of whatever statement reads the account: no cap costs a query of its own. */

import type { EntityManager } from '#db/orm.ts';
import type { PlanSubject } from '#rules/caps.ts';
import { subscriptionsInForce } from '#rules/states.ts';

const inForce = subscriptionsInForce.map((status) => `'${status}'`).join(', ');

/** SQL for the text of a `Standing` (caps.ts) of the account whose id `account` is, an expression of the statement around it. */
export function subscriptionsSql(account: string): string {
  return `jsonb_build_object(
    'paid', (select jsonb_build_object('plan', plan, 'until', serves_until) from billing_subscription
             where account_id = ${account} and status in (${inForce})),
    'granted', (select jsonb_build_object('plan', plan, 'until', ends_at) from plan_grant
                where account_id = ${account} and ended_at is null))::text`;
}

/** SQL for why a person has stopped the account whose id `account` is, an expression of the statement around it; null as a rule. */
export function blockReasonSql(account: string): string {
  return `(select stopped.block_reason from account stopped where stopped.id = ${account})`;
}

/**
 * Holds the account until the transaction ends: everything that counts for it stands in line here. Rows that merely name the account (a
 * deployment that it made on another's site) are not kept waiting, or two who work on each other's sites would wait for each other.
 * Answers which plans it has.
 */
export async function lockAccount(tx: EntityManager, accountId: string): Promise<PlanSubject> {
  const [row] = await tx.execute<{ subscriptions: string | null }[]>(
    `select ${subscriptionsSql('account.id')} as subscriptions from account where id = ? for no key update`,
    [accountId],
  );
  return { subscriptions: row?.subscriptions };
}
