import { z } from 'zod';
import { pageQuery } from '#api/pagination.ts';
import { instant, moment, plainText } from '#api/schemas.ts';
import type { WholeBooking } from '#db/bookings/booking.ts';
import { type Payment, refundedAmountOf } from '#db/payments/payment.ts';
import { lastRefundedAt, type RefundMade } from '#db/payments/refunds-made.ts';
import { descriptionOf } from '#db/payments/subject.ts';
import { isLinked } from '#rules/addresses-in-text.ts';
import { call } from '#rules/calls/calls.ts';
import { written } from '#rules/currencies.ts';
import { type PaymentStatus, paymentStatusAt, paymentStatuses, type Role } from '#rules/states.ts';
import type { Config } from '#runtime/config.ts';

export const paymentInput = z.strictObject({
  amount: z.int().describe('In the minor unit of the currency: 1250 means €12.50, ¥1,250 or KWD 1.250.'),
  currency: z.string().describe('An ISO 4217 code, such as EUR.'),
  reference: z
    .string()
    .max(500)
    .optional()
    .describe('Your own reference: the platform does not interpret it, and the payer never sees it.'),
  description: plainText(200)
    .refine((text) => !isLinked(text), 'must not contain a web address, a host name or an e-mail address')
    .optional()
    .describe('What is paid for, in one line. The payer reads it before and after paying, with the name of the site.'),
});
export const refundInput = z.strictObject({
  amount: z
    .int()
    .min(1)
    .optional()
    .describe('A part of the payment, in the minor unit of its currency; without it, all that is left.'),
});

export type PaymentInput = z.output<typeof paymentInput>;

export const paymentSchema = z
  .object({
    id: z.string(),
    site_id: z.string(),
    amount: z.number().int().describe('In the minor unit of the currency.'),
    currency: z.string(),
    reference: z.string().nullable(),
    description: z.string().nullable().describe('What the payer reads. For a booking: its service and time.'),
    booking_id: z.string().nullable().describe('The booking that is paid for.'),
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
    refunded_amount: z.number().int().describe('In the minor unit of the currency.'),
    refunded_at: moment
      .nullable()
      .describe(
        'When it was refunded; if it was refunded in parts, when the newest part was. status says whether all was.',
      ),
    created_at: moment,
    next_action: z.string().optional(),
  })
  .meta({ id: 'Payment' });

export const paymentsQuery = pageQuery.extend({
  status: z.enum(paymentStatuses).optional(),
  refunded: z
    .enum(['true', 'false'])
    .default('false')
    .describe('true: only payments of which all or a part was refunded.'),
  since: instant.optional().describe('Returns only payments created at or after this time (RFC 3339).'),
  reference: z.string().max(500).optional().describe('Returns only payments with exactly this reference.'),
});

function nextActionOf(
  { id, closeRequestedAt, refundingAmount, currency }: Payment,
  status: PaymentStatus,
): string | undefined {
  const again = `Call ${call('payment.read', { id })} again in about a minute.`;
  if (status === 'open' && closeRequestedAt) return `The link is being closed at the provider. ${again}`;
  if (status === 'open') {
    return `Give pay_url to the payer. Call ${call('payment.read', { id })} later to check whether the payment has been made.`;
  }
  if (status === 'refunding') return `The refund is in progress. ${again}`;
  if (refundingAmount === 0) return undefined;
  return `The refund of ${written({ amount: refundingAmount, currency })} is in progress. ${again}`;
}

export function payUrl({ baseUrl }: Pick<Config, 'baseUrl'>, id: string): string {
  return `${baseUrl}/pay/${id}`;
}

export function paymentView(
  config: Config,
  payment: Payment,
  context: { now: Date; role: Role; booking: WholeBooking | null; refunds: readonly RefundMade[] },
): z.output<typeof paymentSchema> {
  const { now, role, booking, refunds } = context;
  const status = paymentStatusAt(payment, now);
  const next = nextActionOf(payment, status);
  return {
    id: payment.id,
    site_id: payment.site.id,
    amount: payment.amount,
    currency: payment.currency,
    reference: payment.reference ?? null,
    description: descriptionOf(payment, booking),
    booking_id: booking?.id ?? null,
    status,
    pay_url: payUrl(config, payment.id),
    payout_account_id: role === 'owner' ? payment.payoutAccount.id : null,
    expires_at: payment.expiresAt,
    paid_at: payment.paidAt ?? null,
    refunded_amount: refundedAmountOf(payment),
    refunded_at: payment.refundedAt ?? lastRefundedAt(refunds),
    created_at: payment.createdAt,
    ...(next === undefined ? {} : { next_action: next }),
  };
}
