/** The payment link: it redirects to a checkout session of the provider, in which the payment can be paid once. Visits share a session while it is open. */
import type { Loaded } from '@mikro-orm/core';
import { loadUntil } from '#db/notifications.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { bookingsOf, checkoutRequest } from '#db/payments/subject.ts';
import {
  closeCheckoutSession,
  ensureCheckoutSession,
  recordOpenSession,
  signalSettlePayment,
} from '#db/payments/transitions.ts';
import { agreementOf, credentialsOf } from '#db/payouts/credentials.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { type PaymentCredentials, type Payments, PaymentsFault, providerError } from '#providers/payments.ts';
import { type PaymentStatus, paymentStatusAt } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

const wholly = { populate: ['site', 'payoutAccount'] } as const;
type Linked = Loaded<Payment, (typeof wholly.populate)[number]>;

/** The payment of a link, with its booking if it has one. Throws `not_found`. */
export async function paymentOfLink(em: EntityManager, id: string) {
  const payment = isId('pay', id) ? await em.findOne(Payment, { id }, wholly) : null;
  if (!payment) throw errors.not_found('We can’t find this payment. Check that you copied the whole link.');
  return { payment, booking: (await bookingsOf(em, [id])).get(id) ?? null };
}

/** How long a visit waits for another one that is creating the session. */
const creatingMs = 5_000;
/** How long a visit waits for a payment that was made a moment ago. */
const completeMs = 5_000;

/**
 * The URL of the payment's checkout session; null if the payment can no longer be paid. The provider is asked for it each
 * time, because it is a secret of the payer. Throws `provider_error`, `payout_account_gone`, `payout_key_unreadable`.
 */
export async function openCheckout(deps: Deps, id: string): Promise<string | null> {
  const { payment } = await paymentOfLink(deps.em(), id);
  if (!deps.payments) throw errors.payouts_disabled('Payments are not available at the moment.');
  const credentials = credentialsOf(deps, payment.payoutAccount);
  const current = await ensureCheckoutSession(deps.em(), deps.clock, id);
  if (!current) return null;
  const attempt = current.isNew ? current.attempt : await createdElsewhere(deps, current.attempt);
  try {
    if (attempt.status === 'minting')
      return await createSession(deps, deps.payments, { payment, attempt, credentials });
    if (attempt.status === 'paid') return null;
    const session = attempt.sessionId && (await deps.payments.readSession(credentials, attempt.sessionId));
    if (session && session.url !== null) return session.url;
    if (session && session.status === 'complete') {
      await payerReturned(deps, id, completeMs);
      return null;
    }
    await closeCheckoutSession(deps.em(), deps.clock, attempt);
  } catch (error) {
    throw error instanceof PaymentsFault ? providerError(error) : error;
  }
  return await openCheckout(deps, id);
}

type Creating = { payment: Linked; attempt: PaymentAttempt; credentials: PaymentCredentials };

/**
 * Creates the session at the provider. The attempt is stored before the provider is called, and the session's id before
 * its URL is returned, so that no open session is unknown.
 */
async function createSession(deps: Deps, payments: Payments, { payment, attempt, credentials }: Creating) {
  try {
    const request = await checkoutRequest(deps.em(), deps.config, payment, attempt);
    const session = await payments.openSession(credentials, request);
    return (await recordOpenSession(deps.em(), attempt.id, session.id)) ? session.url : null;
  } catch (error) {
    // Unless the provider refused, a session may exist: the workflow or the next visit finds it.
    if (error instanceof PaymentsFault && error.reason !== 'unanswered')
      await closeCheckoutSession(deps.em(), deps.clock, attempt);
    throw error;
  }
}

/**
 * The attempt of another visit, once its session is created. If that takes too long, the process may have died: the same
 * idempotency key then gives the same session.
 */
async function createdElsewhere({ em, notifications, clock }: Deps, { id, payment, openedAt }: PaymentAttempt) {
  return await loadUntil(
    notifications,
    { channel: 'payment_changed', id: payment.id },
    () => em().findOneOrFail(PaymentAttempt, { id }),
    ({ status }) => status !== 'minting',
    Math.max(0, openedAt.getTime() + creatingMs - clock.now().getTime()),
  );
}

/**
 * The payment's state as its payer sees it: also `expired` if its link is being closed, if its site is blocked or archived, or no longer uses that
 * payout account. A removed payout account does not expire it: checkout then fails with `payout_account_gone`.
 */
export async function statusOfLink(em: EntityManager, clock: Clock, payment: Linked): Promise<PaymentStatus> {
  const status = paymentStatusAt(payment, clock.now());
  const { site, payoutAccount } = payment;
  if (status === 'open' && payment.closeRequestedAt) return 'expired';
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
