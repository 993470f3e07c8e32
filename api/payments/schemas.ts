import { z } from 'zod';
import { pageQuery } from '#api/pagination.ts';
import { instant, moment } from '#api/schemas.ts';
import type { Payment } from '#db/payments/payment.ts';
import { paymentStatusAt, paymentStatuses, type Role } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';

export const paymentInput = z.strictObject({
  amount: z.int().describe('In the minor unit of the currency: 1250 means 12.50 EUR, or 1250 JPY.'),
  currency: z.string().describe('An ISO 4217 code, such as EUR.'),
  reference: z.string().max(500).optional().describe('Your own reference; the platform does not interpret it.'),
});
export type PaymentInput = z.output<typeof paymentInput>;

export const paymentSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    amount: z.number().int().describe('In the minor unit of the currency.'),
    currency: z.string(),
    reference: z.string().nullable(),
    status: z.enum(paymentStatuses),
    pay_url: z
      .string()
      .describe(
        'The link for the payer. It redirects to a checkout page at the payment provider, which visits share while it is open.',
      ),
    payout_account_id: z
      .string()
      .nullable()
      .describe('The payout account that receives the money. Null unless this account owns the site.'),
    expires_at: moment.describe('When the payment link expires.'),
    paid_at: moment.nullable(),
    refunded_at: moment.nullable(),
    created_at: moment,
    next_action: z.string().optional(),
  })
  .meta({ id: 'Payment' });

export const paymentsQuery = pageQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  since: instant.optional().describe('Returns only payments created at or after this time (RFC 3339).'),
});

const nextActions: Partial<Record<z.output<typeof paymentSchema>['status'], (id: string) => string>> = {
  open: (id) =>
    `Give pay_url to the payer. Call GET /v1/payments/${id} later to check whether the payment has been made.`,
  refunding: (id) => `The refund is in progress. Call GET /v1/payments/${id} again in about a minute.`,
};

export function payUrl({ baseUrl }: Pick<Config, 'baseUrl'>, id: string): string {
  return `${baseUrl}/pay/${id}`;
}

export function paymentView(
  config: Config,
  payment: Payment,
  { now, role }: { now: Date; role: Role },
): z.output<typeof paymentSchema> {
  const status = paymentStatusAt(payment, now);
  const next = nextActions[status];
  return {
    id: payment.id,
    site_id: payment.site.id,
    amount: payment.amount,
    currency: payment.currency,
    reference: payment.reference ?? null,
    status,
    pay_url: payUrl(config, payment.id),
    payout_account_id: role === 'owner' ? payment.payoutAccount.id : null,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt ?? null,
    refunded_at: payment.refundedAt ?? null,
    created_at: payment.createdAt,
    ...(next ? { next_action: next(payment.id) } : {}),
  };
}
