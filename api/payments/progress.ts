/** Payments as the console shows them: with what is in progress at the provider, their refunds and the e-mail about these. */
import { Mail } from '#db/mail/mail.ts';
import type { EntityManager } from '#db/orm.ts';
import { refundableAmount } from '#db/payments/partial-refunds.ts';
import { Payment, refundedAmountOf } from '#db/payments/payment.ts';
import { lastRefundedAt, type RefundMade, refundsMade } from '#db/payments/refunds-made.ts';
import { bookingsOf } from '#db/payments/subject.ts';
import { paymentStatusAt } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import type { PaymentRead, PaymentShown, RefundMail } from '#web/console/payments.ts';

/** All values are of one moment. */
export async function withProgress(
  em: EntityManager,
  clock: Clock,
  payments: readonly PaymentRead[],
): Promise<PaymentShown[]> {
  const rows = await em.find(Payment, { id: { $in: payments.map(({ id }) => id) } }, { refresh: true });
  const byId = new Map(rows.map((row) => [row.id, row]));
  const refunds = await refundsMade(em, rows);
  const bookings = await bookingsOf(em, [...byId.keys()]);
  const now = clock.now();
  const shown = payments.map(async (payment) => {
    const row = byId.get(payment.id);
    if (!row) return [];
    const made = refunds.get(row.id) ?? [];
    const progress = {
      status: paymentStatusAt(row, now),
      refunded_amount: refundedAmountOf(row),
      refunding_amount: row.refundingAmount,
      closing: row.closeRequestedAt != null,
      refundable_amount: refundableAmount(row),
      refund_failed: row.refundFailedAt != null,
      refunds: made,
      payer: bookings.get(row.id)?.visitorName || null,
      refund_mail: await refundMail(em, row, { made, now }),
    };
    return [{ ...payment, ...progress }];
  });
  return (await Promise.all(shown)).flat();
}

/** The e-mail to the payer about the newest refund; null if there is no refund, or it is too long ago to know. */
async function refundMail(
  em: EntityManager,
  { id }: Payment,
  { made, now }: { made: readonly RefundMade[]; now: Date },
): Promise<RefundMail | null> {
  const at = lastRefundedAt(made);
  if (!at || now.getTime() - at.getTime() > dayMs) return null;
  // A mail about a payment stores the payment's id where one about a booking stores the booking's.
  const ofPayment = { bookingId: id, kind: 'payment-refunded', createdAt: { $gte: at } } as const;
  const [mail] = await em.find(Mail, ofPayment, { orderBy: { id: 'desc' }, limit: 1, refresh: true });
  if (!mail) return { status: 'none', at: null };
  return { status: mail.status, at: mail.sendAt && mail.sendAt > now ? mail.sendAt : null };
}
