/** SQL expressions for the plans and the block of an account, so that checking a limit needs no query of its own. */

import { sqlList } from '#db/arrays.ts';
import { subscriptionsInForce } from '#rules/states.ts';

/**
 * SQL for the `Subscriptions` (rules/plan-limits.ts), as JSON text, of the account whose id is `account`, an SQL expression.
 */
export function subscriptionsSql(account: string): string {
  return `jsonb_build_object(
    'paid', (select jsonb_build_object('plan', plan, 'until', serves_until) from billing_subscription
             where account_id = ${account} and status in ${sqlList(subscriptionsInForce)}),
    'granted', (select jsonb_build_object('plan', plan, 'until', ends_at) from plan_grant
                where account_id = ${account} and ended_at is null))::text`;
}

/** SQL for the reason of an account's block; null if it is not blocked. `account` is an SQL expression for its id. */
export function blockReasonSql(account: string): string {
  return `(select stopped.block_reason from account stopped where stopped.id = ${account})`;
}
