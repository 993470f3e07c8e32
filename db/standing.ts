/** Which plans an account has, as a part of whatever statement reads the account: no cap costs a query of its own. */

/** SQL for a `Standing` (caps.ts) of the account whose id `account` is, an expression of the statement around it. */
export function standingOf(account: string): string {
  return `jsonb_build_object(
    'paid', (select jsonb_build_object('plan', plan, 'until', serves_until) from billing_subscription
             where account_id = ${account} and status in ('active', 'past_due')),
    'granted', (select jsonb_build_object('plan', plan, 'until', ends_at) from plan_grant
                where account_id = ${account} and ended_at is null))`;
}
