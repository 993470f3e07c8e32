/**
 * The one place that knows which plan an account has, and with it every cap. Deadlines are judged here, at reading: a grant that has run
 * out, or a payment that is overdue for too long, counts for nothing from that instant.
 */
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import type { LimitName, Limits } from './limits.ts';
import type { Catalog, Plan } from './plans.ts';

/** A plan that an account has, and until when; `until` is null where nothing ends it. */
type HeldPlan = { plan: string; until: string | null };
/** What an account has paid for and what it was granted, as it comes with the account's row and with those of its sites. */
type Subscriptions = { paid: HeldPlan | null; granted: HeldPlan | null };
/** An account or one of its sites, loaded from the database. Its `Standing` is JSON. */
export type PlanSubject = { subscriptions?: string | null | undefined };

export type PlanContext = { config: Pick<Config, 'plans' | 'plan' | 'billing'>; clock: Clock };

/** The larger of what is paid for and what is granted; the catalog's first where it is neither. Without billing it is everybody's plan. */
export function planOf({ config, clock }: PlanContext, subject: PlanSubject): Plan {
  const { plans } = config;
  if (!config.billing) return planNamed(plans, config.plan) ?? plans[0];
  const { paid, granted } = subscriptionsOf(subject);
  const held = [paid, granted].map((one) => (one && isInForce(one, clock.now()) ? one.plan : undefined));
  return plans.findLast(({ name }) => held.includes(name)) ?? plans[0];
}

function subscriptionsOf({ subscriptions: standing }: PlanSubject): Subscriptions {
  if (!standing) throw new Error('the account was not loaded, so its plan is not known');
  return JSON.parse(standing);
}

function isInForce({ until }: HeldPlan, now: Date): boolean {
  return until === null || new Date(until) > now;
}

export function planNamed(plans: Catalog, name: string): Plan | undefined {
  return plans.find((plan) => plan.name === name);
}

export function limitsOf(deps: PlanContext, subject: PlanSubject): Limits {
  return planOf(deps, subject).limits;
}

export type PlanStatus = 'free' | 'granted' | 'active' | 'past_due';

/** By what the account has its plan. Without billing it is just there. */
export function planStatusOf(deps: PlanContext, subject: PlanSubject): PlanStatus {
  if (!deps.config.billing) return 'active';
  const { name } = planOf(deps, subject);
  const has = (held: HeldPlan | null) => held?.plan === name && isInForce(held, deps.clock.now());
  const { paid, granted } = subscriptionsOf(subject);
  if (has(paid)) return paid?.until === null ? 'active' : 'past_due';
  return has(granted) ? 'granted' : 'free';
}

/** The caps of an account, and what is said of them to who meets one. */
export type Caps = {
  limits: Limits;
  /** "The plan", by its name where there are several. */
  plan: string;
  /** Who lifts the cap, and how, as a sentence that follows the remedy. */
  lift(name: LimitName): string;
};

/** `by` is who acts: a collaborator meets the caps of the site's owner, and only the owner can lift them. */
export function capsOf(deps: PlanContext, subject: PlanSubject, by: 'owner' | 'collaborator' = 'owner'): Caps {
  const { billing, plans } = deps.config;
  const { name: plan, limits } = planOf(deps, subject);
  const words = by === 'owner' ? ownerRemedy : collaboratorRemedy;
  return {
    limits,
    plan: billing ? `The plan ${plan}` : 'The plan',
    lift: (name) => words(name, billing ? largerPlan(plans, name, limits[name]) : undefined),
  };
}

/** The smallest plan that lifts the cap; one that can be bought, if there is one. */
function largerPlan(plans: Catalog, name: LimitName, value: number): Plan | undefined {
  const larger = plans.filter(({ limits }) => limits[name] > value);
  return larger.find(({ sellable }) => sellable) ?? larger[0];
}

function ownerRemedy(name: LimitName, larger: Plan | undefined): string {
  if (!larger) return `GET /v1/account lists it as \`limits.${name}\`.`;
  const lifts = `The plan ${larger.name} raises \`limits.${name}\` to ${larger.limits[name]}`;
  return larger.sellable
    ? `${lifts}: POST /v1/billing/checkout.`
    : `${lifts}; it is not sold here, so ask the operator.`;
}

function collaboratorRemedy(name: LimitName, larger: Plan | undefined): string {
  const whose = `\`limits.${name}\` is the limit of the site's owner, who can raise it`;
  return larger ? `${whose} with the plan ${larger.name}.` : `${whose} or make room.`;
}
