import { z } from 'zod';
import { moment } from '#api/schemas.ts';
import type { Account } from '#db/accounts/account.ts';
import type { BillingSubscription, PlanGrant } from '#db/billing/subscription.ts';
import { call } from '#rules/calls/calls.ts';
import { limitNames } from '#rules/limit-names.ts';
import { type PlanStatus, planOf, planStatusOf } from '#rules/plan-limits.ts';
import type { Plan } from '#rules/plans.ts';
import type { Deps } from '#runtime/deps.ts';

const planSchema = z
  .object({
    name: z.string(),
    price: z.object({
      amount: z.number().int().describe('In the currency’s minor unit.'),
      currency: z.string().describe('An ISO 4217 code.'),
      interval: z.enum(['month', 'year']),
    }),
    limits: z.record(z.enum(limitNames), z.number().int()),
    includes: z.array(z.string()),
    sellable: z
      .boolean()
      .describe(
        'Whether the plan can be bought here. Plans that include a domain cannot be bought, because this platform does not register domains.',
      ),
  })
  .meta({ id: 'Plan' });

export const billingSchema = z
  .object({
    plan: z.string().describe('The plan whose limits currently apply.'),
    status: z
      .enum(['free', 'granted', 'active', 'past_due'])
      .describe(
        'Why the plan is active: it is the default, an operator granted it, or a subscription is paid or overdue.',
      ),
    ends_at: moment
      .nullable()
      .describe(
        'When the plan ends: the end of a grant or of a cancelled subscription, or the deadline for an overdue payment.',
      ),
    price: planSchema.shape.price,
    limits: planSchema.shape.limits,
    includes: planSchema.shape.includes,
    checkout: z
      .object({ plan: z.string(), expires_at: moment })
      .nullable()
      .describe('The open checkout page, if there is one.'),
    plans: z.array(planSchema).describe('All plans, from the free plan to the largest one.'),
    next_action: z.string().optional(),
  })
  .meta({ id: 'Billing' });

export const checkoutInput = z.strictObject({ plan: z.string().max(100) });

export const checkoutSchema = z
  .object({
    url: z.string().describe('A page on the payment provider’s site.'),
    plan: z.string(),
    status: z.literal('open'),
    expires_at: moment,
    next_action: z.string(),
  })
  .meta({ id: 'Checkout' });

export const portalSchema = z.object({ url: z.string().describe('A page on the payment provider’s site.') });

export type Standings = {
  paid: BillingSubscription | null;
  grant: PlanGrant | null;
  open: BillingSubscription | null;
};

export function billingView(
  deps: Pick<Deps, 'clock' | 'config'>,
  account: Account,
  { paid, grant, open }: Standings,
): z.output<typeof billingSchema> {
  const plan = planOf(deps.config, account, deps.clock.now());
  const status = planStatusOf(deps.config, account, deps.clock.now());
  const isOpen = open !== null && open.checkoutEndsAt > deps.clock.now();
  return {
    plan: plan.name,
    status,
    ends_at: endOf(status, paid, grant),
    price: plan.price,
    limits: plan.limits,
    includes: plan.includes,
    checkout: isOpen ? { plan: open.plan, expires_at: open.checkoutEndsAt } : null,
    plans: deps.config.plans.map((one: Plan) => one),
    ...(status === 'past_due' ? { next_action: overdue } : {}),
  };
}

const overdue = `A payment is overdue. Call ${call('billing.portal')} and give the owner the url, so that they can pay before ends_at.`;

function endOf(status: PlanStatus, paid: BillingSubscription | null, grant: PlanGrant | null): Date | null {
  if (status === 'past_due') return paid?.servesUntil ?? null;
  if (status === 'active') return paid?.cancelsAt ?? null;
  return status === 'granted' ? (grant?.endsAt ?? null) : null;
}
