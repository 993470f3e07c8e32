/** What becomes of payments that are open where no money is to land any more: nothing is paid any more, and pages are closed. */

import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { expireNow, withPayment } from '#db/payments/transitions.ts';
import { unsettledAttempts } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';

type Where = { payoutAccount: string; site?: string };

/** Call it after the agreement has ended, outside of its transaction: each payment is locked in its own order. */
export async function expireOpenPayments(em: EntityManager, clock: Clock, where: Where): Promise<void> {
  const open = await em.find(Payment, { ...where, status: 'open' }, { fields: ['id'] });
  for (const { id } of open) {
    await withPayment(em.fork(), id, async ({ tx, payment }) => expireNow(tx, clock, payment));
  }
}

/** Whether somebody may still pay on a page of the account. */
export async function hasOpenSessions(em: EntityManager, payoutAccount: string): Promise<boolean> {
  const open = { payment: { payoutAccount }, status: { $in: [...unsettledAttempts] } };
  return (await em.count(PaymentAttempt, open)) > 0;
}
