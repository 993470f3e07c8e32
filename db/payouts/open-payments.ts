/**
 * Open payments after an agreement or payout account has ended: they expire, and their checkout sessions are closed.
 */

import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { expireNow, withPayment } from '#db/payments/transitions.ts';
import { unsettledAttempts } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';

type Where = { payoutAccount: string; site?: string };

/** Call it after the agreement has ended, outside of its transaction, because each payment needs its own lock order. */
export async function expireOpenPayments(em: EntityManager, clock: Clock, where: Where): Promise<void> {
  const open = await em.find(Payment, { ...where, status: 'open' }, { fields: ['id'] });
  for (const { id } of open) {
    await withPayment(em.fork(), id, async ({ tx, payment }) => expireNow(tx, clock, payment));
  }
}

/** Whether the payout account has checkout sessions that may still be paid. */
export async function hasOpenSessions(em: EntityManager, payoutAccount: string): Promise<boolean> {
  const open = { payment: { payoutAccount }, status: { $in: [...unsettledAttempts] } };
  return (await em.count(PaymentAttempt, open)) > 0;
}
