/** Payments and plans. */
import { z } from 'zod';
import { list, url } from './types.ts';

export const money = {
  FRONTAGE_PAYOUT_RAILS: list
    .pipe(z.array(z.enum(['own_key', 'connect'])))
    .default([])
    .describe(
      'How sites receive payments: `own_key` (owners’ own keys), `connect` (accounts connected to the operator’s). Empty: payments are disabled (`payouts_disabled`). `npm start` sets both, with a stub of the payment provider.',
    ),
  FRONTAGE_PAYMENTS_KEY: z
    .string()
    .default('')
    .describe(
      'The operator’s API key for the payment provider. Required for the rail `connect`, and used only for it.',
    ),
  FRONTAGE_PAYMENTS_WEBHOOK_SECRET: z
    .string()
    .default('')
    .describe(
      'Secret that verifies the payment provider’s webhooks to `<base url>/hooks/payments`. Used only for `connect`. Subscribe to these events for connected accounts: `checkout.session.completed`, `checkout.session.expired`, `account.updated`, `account.application.deauthorized`. Webhooks are an optimisation: the platform also polls. The hourly ledger check finds refunds made in the provider’s dashboard.',
    ),
  FRONTAGE_PAYMENTS_URL: url.default(new URL('https://api.stripe.com')).describe('URL of the payment provider’s API.'),
  FRONTAGE_BILLING_KEY: z
    .string()
    .default('')
    .describe(
      'The operator’s API key for the payment provider, used to sell plans. Empty: nothing is metered (`billing_disabled`).',
    ),
  FRONTAGE_BILLING_WEBHOOK_SECRET: z
    .string()
    .default('')
    .describe(
      'Secret that verifies the payment provider’s webhooks to `<base url>/hooks/billing`. Optional: the platform also polls.',
    ),
  FRONTAGE_BILLING_URL: url
    .default(new URL('https://api.stripe.com'))
    .describe('URL of the payment provider’s API for plans.'),
  FRONTAGE_BILLING_GRACE_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(90)
    .default(7)
    .describe('Number of days that a plan stays active after a failed payment.'),
  FRONTAGE_PLANS: z
    .string()
    .default('')
    .describe('Path of the plan catalog, a file with the price and limits of each plan.'),
  FRONTAGE_PLAN: z.string().default('').describe('Plan of every account if nothing is metered.'),
};
