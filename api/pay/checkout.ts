/** The payment link: each visit redirects to a new checkout session of the provider, in which the payment can be paid once. */
import type { Loaded } from '@mikro-orm/core';
import { Booking } from '#db/bookings/booking.ts';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import {
  closeCheckoutSession,
  createCheckoutSession,
  recordOpenSession,
  signalSettlePayment,
} from '#db/payments/transitions.ts';
import { agreementOf, credentialsOf } from '#db/payouts/credentials.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { sessionFor } from '#providers/payments/sessions.ts';
import { PaymentsFault, providerError } from '#providers/payments.ts';
import { type PaymentStatus, paymentStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

const wholly = { populate: ['site', 'payoutAccount'] } as const;
type Linked = Loaded<Payment, (typeof wholly.populate)[number]>;

/** The payment of a link, with its booking's reference if it has one. Throws `not_found`. */
export async function paymentOfLink(em: EntityManager, id: string) {
  const payment = isId('pay', id) ? await em.findOne(Payment, { id }, wholly) : null;
  if (!payment) throw errors.not_found('We can’t find this payment. Check that you copied the whole link.');
  const booking = await em.findOne(Booking, { paymentId: id });
  return { payment, booking };
}

/**
 * The URL of a new checkout session; null if the payment can no longer be paid. The attempt is stored before the
 * provider is called, and the session's id before its URL is returned, so that no open session is unknown. Throws
 * `provider_error`, `payout_account_gone`, `payout_key_unreadable`.
 */
export async function openCheckout(deps: Deps, id: string): Promise<string | null> {
  const { payment } = await paymentOfLink(deps.em(), id);
  if (!deps.payments) throw errors.payouts_disabled('Payments are not available at the moment.');
  const credentials = credentialsOf(deps, payment.payoutAccount);
  const begun = await createCheckoutSession(deps.em(), deps.clock, id);
  if (!begun) return null;
  try {
    const session = await deps.payments.openSession(credentials, sessionFor(deps.config, payment, begun.attempt));
    return (await recordOpenSession(deps.em(), begun.attempt.id, session.id)) ? session.url : null;
  } catch (error) {
    if (!(error instanceof PaymentsFault)) throw error;
    // Unless the provider refused, a session may exist: the workflow finds and closes it.
    if (error.reason !== 'unanswered') await closeCheckoutSession(deps.em(), deps.clock, begun.attempt);
    throw providerError(error);
  }
}

/**
 * The payment's state as its payer sees it: also `expired` if its site is blocked or archived, or no longer uses that
 * payout account. A removed payout account does not expire it: checkout then fails with `payout_account_gone`.
 */
export async function statusOfLink(em: EntityManager, clock: Clock, payment: Linked): Promise<PaymentStatus> {
  const status = paymentStatusAt(payment, clock.now());
  const { site, payoutAccount } = payment;
  if (status !== 'open' || (!isClosed(site) && payoutAccount.status === 'gone')) return status;
  const isAgreed = (await agreementOf(em, site))?.payoutAccount.id === payoutAccount.id;
  return isAgreed && payoutAccount.blockReason == null && !isClosed(site) ? 'open' : 'expired';
}

/**
 * The payer has returned from checkout: the provider is queried at once. Returns when the payment is no longer open,
 * or after `waitMs`.
 */
export async function payerReturned(deps: Deps, id: string, waitMs: number): Promise<void> {
  await deps.em().transactional(async (tx) => {
    const now = deps.clock.now();
    const open = await tx.nativeUpdate(Payment, { id, status: { $in: ['open', 'expired'] } }, { returnedAt: now });
    if (open > 0) signalSettlePayment(tx, deps.clock, id);
  });
  const load = () => deps.em().findOneOrFail(Payment, { id });
  const isOver = (one: Payment) => paymentStatusAt(one, deps.clock.now()) !== 'open';
  await loadUntil(deps.notifications, { channel: 'payment_changed', id }, load, isOver, waitMs);
}
