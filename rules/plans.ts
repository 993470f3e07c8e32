/**
 * The catalog of plans: prices, features and limits. It is the only source of prices; the billing provider is never
 * queried for one.
 */
import { z } from 'zod';
import { amountFault } from './currencies.ts';
import { type LimitName, limitNames } from './limit-names.ts';

/** A plan with this feature cannot be sold: the service connects domains but does not register them. */
const registeredDomain = 'domain';

// The highest number of a preview slot in a hostname.
const previewSlotsMax = 9999;

const limits = z.strictObject(
  Object.fromEntries(limitNames.map((name) => [name, z.number().int().min(0)])) as Record<LimitName, z.ZodNumber>,
);

const planSchema = z.strictObject({
  name: z.string().regex(/^[a-z][a-z0-9-]{0,39}$/, 'must be a word of lower-case letters, digits and hyphens'),
  price: z.strictObject({
    amount: z.number().int().min(0),
    currency: z
      .string()
      .refine((code) => Intl.supportedValuesOf('currency').includes(code), 'is not an ISO 4217 currency'),
    interval: z.enum(['month', 'year']),
  }),
  limits,
  includes: z.array(z.string().min(1).max(200)),
  sellable: z.boolean(),
});

export type Plan = z.output<typeof planSchema>;
/** From the free plan to the largest. */
export type Catalog = readonly [Plan, ...Plan[]];

const catalogSchema = z.array(planSchema).min(1);

/** Validates a catalog. Returns all its faults if it has any. */
export function validatePlans(content: unknown): { plans: Catalog } | { faults: string[] } {
  const parsed = catalogSchema.safeParse(content);
  if (!parsed.success)
    return { faults: parsed.error.issues.map((issue) => `${where(content, issue.path)}${issue.message}`) };
  const faults = parsed.data.flatMap((plan, at) => faultsOf(plan, parsed.data[at - 1], parsed.data.slice(0, at)));
  return faults.length > 0 ? { faults } : { plans: Object.freeze(parsed.data) as unknown as Catalog };
}

/** The location of a fault, with the plan's name where it has one. */
function where(content: unknown, [at, ...rest]: readonly PropertyKey[]): string {
  if (at === undefined) return '';
  const name: unknown = Array.isArray(content) ? content[Number(at)]?.name : undefined;
  return `${[typeof name === 'string' ? name : String(at), ...rest].join('.')}: `;
}

/** The faults of a plan; `smaller` is the previous plan. */
function faultsOf(plan: Plan, smaller: Plan | undefined, before: readonly Plan[]): string[] {
  const { name, price, includes, sellable } = plan;
  const faults: string[] = [];
  if (before.some((other) => other.name === name)) faults.push('occurs more than once');
  if (!smaller && price.amount > 0) faults.push('is the first plan, which every account has, so it must be free');
  if (sellable && price.amount === 0) faults.push('is free, so it cannot be sellable');
  const unpayable = sellable && price.amount > 0 ? amountFault(price) : undefined;
  if (unpayable !== undefined) faults.push(`cannot be sold at its price: ${unpayable}`);
  if (sellable && includes.includes(registeredDomain)) {
    faults.push('includes a domain, but the service does not register domains, so the plan cannot be sellable');
  }
  for (const limit of limitNames) {
    if (smaller && plan.limits[limit] < smaller.limits[limit])
      faults.push(`limits.${limit} is lower than in the smaller plan ${smaller.name}`);
  }
  if (plan.limits.preview_slots > previewSlotsMax) faults.push(`limits.preview_slots is above ${previewSlotsMax}`);
  return faults.map((fault) => `${name}: ${fault}`);
}
