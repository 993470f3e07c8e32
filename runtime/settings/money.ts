/** Payments and plans. */
import { z } from 'zod';
import { list, url } from './types.ts';

export const money = {
  FRONTAGE_PAYOUT_RAILS: list
    .pipe(z.array(z.enum(['own_key', 'connect'])))
    .default([])
    .describe(
      'How sites receive payments: `own_key` (owners’ own keys), `connect` (accounts connected to ours). Empty: no payments (`payouts_disabled`). `npm start` sets both, with a stub of the provider.',
    ),
  FRONTAGE_PAYMENTS_KEY: z
    .string()
    .default('')
    .describe('Our own key at the payment provider. Only for the rail `connect`, which requires it.'),
  FRONTAGE_PAYMENTS_WEBHOOK_SECRET: z
    .string()
    .default('')
    .describe(
      'Verifies the provider’s webhooks to `<base url>/hooks/payments`. Only for `connect`. Subscribe to these events of connected accounts: `checkout.session.completed`, `checkout.session.expired`, `account.updated`, `account.application.deauthorized`. Webhooks are an optimisation: the platform also polls. The hourly ledger check finds refunds made in a dashboard.',
    ),
  FRONTAGE_PAYMENTS_URL: url
    .default(new URL('https://api.stripe.com'))
    .describe('Address of the payment provider’s API.'),
  FRONTAGE_BILLING_KEY: z
    .string()
    .default('')
    .describe(
      'Our own key at the provider, with which plans are sold. Empty: nothing is metered (`billing_disabled`).',
    ),
  FRONTAGE_BILLING_WEBHOOK_SECRET: z
    .string()
    .default('')
    .describe('Verifies the provider’s webhooks to `<base url>/hooks/billing`. Optional: the platform also polls.'),
  FRONTAGE_BILLING_URL: url
    .default(new URL('https://api.stripe.com'))
    .describe('Address of the provider’s API for plans.'),
  FRONTAGE_BILLING_GRACE_DAYS: z.coerce
    .number()
    .int()
    .min(0)
    .max(90)
    .default(7)
    .describe('Days for which a plan stays active after a failed payment.'),
  FRONTAGE_PLANS: z.string().default('').describe('File of the catalog of plans, with the price and limits of each.'),
  FRONTAGE_PLAN: z.string().default('').describe('The plan of every account if nothing is metered.'),
};
