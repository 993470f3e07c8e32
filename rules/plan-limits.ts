/**
 * The plan of an account and its limits. Deadlines are applied when reading: an expired grant or a long overdue payment
 * has no effect.
 */
import { call } from './calls/calls.ts';
import type { LimitName, Limits } from './limit-names.ts';
import type { Catalog, Plan } from './plans.ts';

/** A plan, and when it ends; `until` is null where it does not. */
type HeldPlan = { plan: string; until: string | null };
/** The account's subscription and grant, loaded with the rows of the account and its sites. */
type Subscriptions = { paid: HeldPlan | null; granted: HeldPlan | null };
/** An account or one of its sites. Its `Subscriptions` are JSON. */
export type PlanSubject = { subscriptions?: string | null | undefined };

/** The catalog, the name of the default plan, and the billing provider, absent where nothing is metered. */
export type PlanConfig = { plans: Catalog; plan: string; billing?: unknown };

/**
 * The larger of the paid and the granted plan, otherwise the first of the catalog. Without billing, every account has
 * the default plan.
 */
export function planOf({ plans, plan, billing }: PlanConfig, subject: PlanSubject, now: Date): Plan {
  if (!billing) return planNamed(plans, plan) ?? plans[0];
  const { paid, granted } = subscriptionsOf(subject);
  const held = [paid, granted].map((one) => (one && isInForce(one, now) ? one.plan : undefined));
  return plans.findLast(({ name }) => held.includes(name)) ?? plans[0];
}

function subscriptionsOf({ subscriptions }: PlanSubject): Subscriptions {
  if (!subscriptions) throw new Error('the account was not loaded, so its plan is unknown');
  return JSON.parse(subscriptions);
}

function isInForce({ until }: HeldPlan, now: Date): boolean {
  return until === null || new Date(until) > now;
}

export function planNamed(plans: Catalog, name: string): Plan | undefined {
  return plans.find((plan) => plan.name === name);
}

export function limitsOf(config: PlanConfig, subject: PlanSubject, now: Date): Limits {
  return planOf(config, subject, now).limits;
}

export type PlanStatus = 'free' | 'granted' | 'active' | 'past_due';

/** The origin of the plan. Without billing there is none. */
export function planStatusOf(config: PlanConfig, subject: PlanSubject, now: Date): PlanStatus {
  if (!config.billing) return 'active';
  const { name } = planOf(config, subject, now);
  const has = (held: HeldPlan | null) => held?.plan === name && isInForce(held, now);
  const { paid, granted } = subscriptionsOf(subject);
  if (has(paid)) return paid?.until === null ? 'active' : 'past_due';
  return has(granted) ? 'granted' : 'free';
}

/** The limits of an account, and the words for a caller that reaches one. */
export type PlanLimits = {
  limits: Limits;
  /** "The plan", or "The free plan" if there are several. */
  plan: string;
  /** The party that can raise the limit, and how: a sentence that follows the remedy. */
  lift(name: LimitName): string;
};

/** `by` is the caller: a collaborator is subject to the limits of the site’s owner, who alone can raise them. */
export function planLimitsOf(
  config: PlanConfig,
  subject: PlanSubject,
  now: Date,
  by: 'owner' | 'collaborator' = 'owner',
): PlanLimits {
  const { billing, plans } = config;
  const { name: plan, limits } = planOf(config, subject, now);
  const words = by === 'owner' ? ownerRemedy : collaboratorRemedy;
  return {
    limits,
    plan: billing ? `The ${plan} plan` : 'The plan',
    lift: (name) => words(name, billing ? largerPlan(plans, name, limits[name]) : undefined),
  };
}

/** The smallest plan with a higher limit, preferably one for sale. */
function largerPlan(plans: Catalog, name: LimitName, value: number): Plan | undefined {
  const larger = plans.filter(({ limits }) => limits[name] > value);
  return larger.find(({ sellable }) => sellable) ?? larger[0];
}

function ownerRemedy(name: LimitName, larger: Plan | undefined): string {
  if (!larger) return `${call('account.read')} returns this limit as \`limits.${name}\`.`;
  const lifts = `The ${larger.name} plan raises \`limits.${name}\` to ${larger.limits[name]}`;
  return larger.sellable
    ? `${lifts}; buy it with ${call('billing.checkout')}.`
    : `${lifts}; it is not for sale here, so ask the operator.`;
}

function collaboratorRemedy(name: LimitName, larger: Plan | undefined): string {
  const whose = `\`limits.${name}\` is a limit of the site owner’s plan; the owner can raise it`;
  return larger ? `${whose} with the ${larger.name} plan.` : `${whose} or make room.`;
}
