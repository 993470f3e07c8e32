import type { Catalog } from '#rules/plans.ts';
import { dayMs } from '#rules/time.ts';
import type { Settings } from '#runtime/settings.ts';

export function moneyConfig(e: Settings, plans: Catalog) {
  return {
    /** Absent if sites cannot receive payments. */
    payouts:
      e.FRONTAGE_PAYOUT_RAILS.length > 0
        ? {
            rails: e.FRONTAGE_PAYOUT_RAILS,
            key: e.FRONTAGE_PAYMENTS_KEY,
            url: e.FRONTAGE_PAYMENTS_URL.origin,
            webhookSecret: e.FRONTAGE_PAYMENTS_WEBHOOK_SECRET,
          }
        : undefined,
    plans,
    plan: e.FRONTAGE_PLAN || (plans.at(-1) ?? plans[0]).name,
    /** Absent if nothing is metered. */
    billing: e.FRONTAGE_BILLING_KEY
      ? {
          key: e.FRONTAGE_BILLING_KEY,
          webhookSecret: e.FRONTAGE_BILLING_WEBHOOK_SECRET,
          url: e.FRONTAGE_BILLING_URL.origin,
          graceMs: e.FRONTAGE_BILLING_GRACE_DAYS * dayMs,
        }
      : undefined,
  };
}
