/** The refunds of payments, for views: the parts, and the refund of all that is left. */
import type { EntityManager } from '#db/orm.ts';
import type { Payment } from './payment.ts';
import { PaymentRefund } from './payment-refund.ts';

/** `at`: when it ended; null while it is in progress. */
export type RefundMade = { amount: number; at: Date | null; status: 'refunding' | 'refunded' | 'failed' };

/** By the payment's id, oldest first. */
export async function refundsMade(
  em: EntityManager,
  payments: readonly Payment[],
): Promise<Map<string, readonly RefundMade[]>> {
  const ofThese = { attempt: { payment: { $in: payments.map(({ id }) => id) } } };
  const whole = { populate: ['attempt'], orderBy: { id: 'asc' }, refresh: true } as const;
  const parts = payments.length === 0 ? [] : await em.find(PaymentRefund, ofThese, whole);
  const of = (payment: Payment) => parts.filter(({ attempt }) => attempt.payment.id === payment.id).map(partOf);
  return new Map(payments.map((payment) => [payment.id, [...of(payment), ...restOf(payment)]]));
}

function partOf({ amount, refundedAt, failedAt }: PaymentRefund): RefundMade {
  if (refundedAt) return { amount, at: refundedAt, status: 'refunded' };
  return { amount, at: failedAt ?? null, status: failedAt ? 'failed' : 'refunding' };
}

/** Without the parts that are refunded or being refunded. */
function restOf({ status, amount, refundedAmount, refundingAmount, refundedAt }: Payment): RefundMade[] {
  const rest = amount - refundedAmount - refundingAmount;
  if ((status !== 'refunding' && status !== 'refunded') || rest <= 0) return [];
  return [{ amount: rest, at: refundedAt ?? null, status }];
}

/** When the newest of them was made, of all or a part; null if none was. */
export function lastRefundedAt(refunds: readonly RefundMade[]): Date | null {
  const times = refunds.flatMap(({ at, status }) => (at && status === 'refunded' ? [at] : []));
  return times.reduce<Date | null>((last, at) => (last && last > at ? last : at), null);
}
