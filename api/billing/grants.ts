/** Plans that an operator grants until a date, and can end earlier. */

import { missing } from '#api/capabilities.ts';
import { Account } from '#db/accounts/account.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { PlanGrant } from '#db/billing/subscription.ts';
import { currentSubscription, planGrantOf } from '#db/billing/transitions.ts';
import type { EntityManager } from '#db/orm.ts';
import { call } from '#rules/calls/calls.ts';
import { planNamed } from '#rules/plan-limits.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';

type Granting = { config: Config; clock: Clock };

/**
 * Grants the account a plan until a date, in place of an earlier grant. Throws `billing_disabled`, `invalid_plan`,
 * `invalid_expiry`, `not_found`, `paid_subscription_active`.
 */
export async function grantPlan(
  em: EntityManager,
  deps: Granting,
  { accountId, plan, endsAt }: { accountId: string; plan: string; endsAt: Date },
): Promise<PlanGrant> {
  const now = deps.clock.now();
  requirePlan(deps, plan);
  if (!(endsAt > now)) throw errors.invalid_expiry('The end date of a granted plan must be in the future.');
  return await em.transactional(async (tx) => {
    await requireAccount(tx, accountId);
    if (await currentSubscription(tx, accountId)) {
      throw errors.paid_subscription_active('The account has a paid plan, which its owner must cancel first.', {
        nextAction: `Ask the owner to cancel the subscription on the page that ${call('billing.portal')} returns.`,
      });
    }
    const before = await planGrantOf(tx, accountId);
    if (before) before.endedAt = now;
    await tx.flush();
    const account = tx.getReference(Account, accountId);
    return tx.create(PlanGrant, { id: newId('grant'), account, plan, createdAt: now, endsAt });
  });
}

/** Ends a grant now. Throws `billing_disabled`, `not_found`, and `not_a_grant` for a paid plan. */
export async function endPlanGrant(em: EntityManager, deps: Granting, accountId: string): Promise<PlanGrant> {
  requireBilling(deps);
  return await em.transactional(async (tx) => {
    await requireAccount(tx, accountId);
    const now = deps.clock.now();
    const grant = await planGrantOf(tx, accountId);
    if (grant && grant.endsAt > now) {
      grant.endedAt = now;
      return grant;
    }
    if (await currentSubscription(tx, accountId)) {
      throw errors.not_a_grant('This account’s plan was bought, not granted.', {
        nextAction: `The account’s owner can cancel the plan on the page that ${call('billing.portal')} returns.`,
      });
    }
    throw errors.not_found('This account has no granted plan.');
  });
}

function requireBilling({ config }: Granting): void {
  const off = missing(config, 'billing');
  if (off) throw off;
}

/** The first plan is every account's default, so it cannot be granted. */
function requirePlan(deps: Granting, name: string): void {
  requireBilling(deps);
  const plan = planNamed(deps.config.plans, name);
  if (plan && plan !== deps.config.plans[0]) return;
  throw errors.invalid_plan(`The plan ${name} does not exist or cannot be granted.`, {
    nextAction: `Use one of these plans: ${deps.config.plans
      .slice(1)
      .map((one) => one.name)
      .join(', ')}.`,
  });
}

async function requireAccount(tx: EntityManager, accountId: string): Promise<void> {
  const { subscriptions } = await lockAccount(tx, accountId);
  if (!subscriptions) throw errors.not_found('No account has this id.');
}
