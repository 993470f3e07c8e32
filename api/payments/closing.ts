/** Closing a payment link before it expires. */
import type { Actor } from '#api/access.ts';
import { recordAct } from '#db/history/recording.ts';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { requestClosing, withPayment } from '#db/payments/transitions.ts';
import { paymentStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { loadPayment } from './rules.ts';

/** Closes the link of a payment that is open; another one is unchanged. Throws `not_found`. */
export async function closePayment(em: EntityManager, deps: Deps, actor: Actor, id: string): Promise<void> {
  const { site } = await loadPayment(em, actor, id);
  await withPayment(deps.em(), id, async (locked) => {
    if (!(await requestClosing(locked, deps.clock))) return;
    recordAct(locked.tx, deps.clock, actor, 'payment.expired', { site, subject: { id, name: null } });
  });
}

/** The payment once it is no longer open, or as it is after the timeout. */
export async function waitForClosing(deps: Deps, id: string, waitMs: number): Promise<Payment> {
  const load = () => deps.em().findOneOrFail(Payment, { id });
  const isOver = (payment: Payment) => paymentStatusAt(payment, deps.clock.now()) !== 'open';
  return await loadUntil(deps.notifications, { channel: 'payment_changed', id }, load, isOver, waitMs);
}
