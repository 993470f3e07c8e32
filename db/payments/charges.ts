/** Charges of payments: captured once, otherwise refunded; and the result of refunds. */

import type { WholeBooking } from '#db/bookings/booking.ts';
import { queueReturnMails } from '#db/bookings/mails.ts';
import { confirmPaid } from '#db/bookings/seats.ts';
import { decryptContact } from '#db/bookings/visitor-contact.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import { Mail } from '#db/mail/mail.ts';
import type { EntityManager } from '#db/orm.ts';
import { PayoutAccount } from '#db/payouts/payout-account.ts';
import { isClosed } from '#db/sites/blocks.ts';
import { Site } from '#db/sites/site.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import type { RefundReason } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import type { Config } from '#runtime/config.ts';
import { queuePaidMails, queueRefundFailed, queueRefundMail } from './mails.ts';
import type { Payment } from './payment.ts';
import { PaymentAttempt } from './payment-attempt.ts';
import { type Locked, releaseHold, signalSettlePayment, withPayment } from './transitions.ts';

type Deps = { clock: Clock; config: Config };
/** `email`: the payer's address, if the provider has it. */
export type ChargedAttempt = {
  id: string;
  payment: { id: string };
  sessionId: string | null;
  email?: string | null;
};

/**
 * Records a charge from a checkout session. The first charge of a payment is captured and its booking confirmed. A
 * charge is refunded if its seats are taken, if the site no longer accepts payments, or if the payment was paid
 * before. Idempotent.
 */
export async function recordCharge(
  em: EntityManager,
  deps: Deps,
  charged: ChargedAttempt,
  charge: string,
): Promise<void> {
  await withPayment(em, charged.payment.id, async (locked) => {
    const { tx, payment } = locked;
    const attempt = await tx.findOneOrFail(PaymentAttempt, { id: charged.id }, { refresh: true });
    if (attempt.charge) return;
    const now = deps.clock.now();
    Object.assign(attempt, { status: 'paid', sessionId: charged.sessionId, charge, chargedAt: now });
    if (payment.paidAt) startRefund(tx, deps.clock, attempt, 'second');
    else {
      payment.paidAt = now;
      payment.status = 'paid';
      if (!(await fulfil(locked, deps))) {
        payment.status = 'refunding';
        startRefund(tx, deps.clock, attempt, 'late');
      }
    }
    await releaseHold(locked, deps.clock);
    signalSettlePayment(tx, deps.clock, payment.id);
    if (payment.status !== 'paid' || attempt.refundReason) return;
    await notifyInbox(tx, payment.site.id);
    if (!locked.booking) await queuePaidMails(tx, deps, payment, charged.email ?? null);
  });
}

/**
 * Delivers what was paid for. Returns false where that is impossible; for a booking, the visitor and the owner then get
 * an e-mail about the refund.
 */
async function fulfil({ tx, payment, booking }: Locked, deps: Deps): Promise<boolean> {
  const canFulfil = await isPayable(tx, payment);
  if (!booking) return canFulfil;
  if (canFulfil && (await confirmPaid(tx, deps, booking))) return true;
  const site = await tx.findOneOrFail(Site, booking.site.id);
  const contact = booking.visitorSealed ? decryptContact(deps.config, booking.id, booking.visitorSealed) : null;
  await queueReturnMails(tx, deps, { booking, site, payment, contact });
  expireHold(deps.clock, booking);
  return false;
}

/** Not payable: a site that is archived or blocked, or one whose payout account belongs to a blocked account. */
async function isPayable(tx: EntityManager, payment: Payment): Promise<boolean> {
  const site = await tx.findOneOrFail(Site, payment.site.id, { refresh: true });
  const account = await tx.findOneOrFail(PayoutAccount, payment.payoutAccount.id, { refresh: true });
  return !isClosed(site) && account.blockReason == null;
}

/** Releases the seats of a booking whose charge is refunded. */
function expireHold(clock: Clock, booking: WholeBooking): void {
  if (booking.status !== 'held') return;
  const now = clock.now();
  booking.status = 'expired';
  if (booking.holdExpiresAt && booking.holdExpiresAt > now) booking.holdExpiresAt = now;
}

/** Starts the refund of a charge. Its idempotency key is stored before the provider is called. */
function startRefund(tx: EntityManager, clock: Clock, attempt: PaymentAttempt, reason: RefundReason): void {
  attempt.refundReason = reason;
  attempt.refundKey = `${attempt.id}:refund:${clock.now().getTime()}`;
  attempt.refundBeganAt = clock.now();
  attempt.refundFault = null;
  attempt.refundRefusals = 0;
  const about = { summary: `Refund (${reason})`, resource: attempt.payment.id };
  startWorkflow(tx, clock, 'refundPayment', { attemptId: attempt.id, refundKey: attempt.refundKey }, about);
}

/** The captured charge of a paid payment. */
export async function capturedCharge(tx: EntityManager, paymentId: string): Promise<PaymentAttempt> {
  const captured = { payment: paymentId, charge: { $ne: null }, refundReason: null };
  return await tx.findOneOrFail(PaymentAttempt, captured, { refresh: true });
}

/** Starts the refund of the captured charge, if there is one. The payment is locked. */
export async function refundCaptured(
  { tx, payment }: Pick<Locked, 'tx' | 'payment'>,
  clock: Clock,
  reason: RefundReason,
): Promise<void> {
  if (payment.status !== 'paid') return;
  startRefund(tx, clock, await capturedCharge(tx, payment.id), reason);
  payment.status = 'refunding';
  payment.refundFailedAt = null;
}

/** Records that a charge was refunded, and tells the payer if the address is known. */
export async function recordRefund(
  em: EntityManager,
  deps: Deps,
  refunded: Pick<PaymentAttempt, 'id' | 'payment'>,
  email: string | null,
) {
  const { clock } = deps;
  await withPayment(em, refunded.payment.id, async ({ tx, payment, booking }) => {
    const attempt = await tx.findOneOrFail(PaymentAttempt, { id: refunded.id }, { refresh: true });
    if (attempt.refundedAt || !attempt.refundReason) return;
    attempt.refundedAt = clock.now();
    attempt.refundFault = null;
    payment.refundFailedAt = null;
    const isSecond = attempt.refundReason === 'second';
    const amount = payment.amount - (isSecond ? 0 : payment.refundedAmount);
    if (!isSecond)
      Object.assign(payment, { status: 'refunded', refundedAt: clock.now(), refundedAmount: payment.amount });
    // The visitor of a booking that came too late has an e-mail about it, if their address was still stored.
    if (attempt.refundReason === 'late' && booking && (await hasReturnMail(tx, booking))) return;
    // Its parts were refunded before, and had e-mails of their own.
    if (amount === 0) return;
    await queueRefundMail(tx, deps, payment, { email, amount, isCancelled: attempt.refundReason === 'cancelled' });
  });
}

async function hasReturnMail(tx: EntityManager, { id }: WholeBooking): Promise<boolean> {
  return (await tx.count(Mail, { bookingId: id, kind: 'money-returned' })) > 0;
}

/**
 * Records why a refund failed. `isKept`: the provider would repeat its response under the same key, so that the next
 * attempt uses a new one.
 */
export async function recordRefundFailure(
  em: EntityManager,
  { id, refundKey, refundRefusals }: Pick<PaymentAttempt, 'id' | 'refundKey' | 'refundRefusals'>,
  { why, isKept }: { why: string; isKept: boolean },
): Promise<void> {
  const current = { id, refundedAt: null, refundKey: refundKey ?? null };
  await em.nativeUpdate(PaymentAttempt, current, {
    refundFault: why,
    ...(isKept ? { refundRefusals: refundRefusals + 1 } : {}),
  });
}

/**
 * Reverts a refund that is impossible: the payment is paid again, a refund can be requested again, and the site's
 * people get an e-mail. The ledger check reports what is owed. Returns false where a newer refund has replaced this one.
 */
export async function abandonRefund(
  em: EntityManager,
  deps: Deps,
  charged: Pick<PaymentAttempt, 'id' | 'payment'>,
  refundKey: string | undefined,
): Promise<boolean> {
  return await withPayment(em, charged.payment.id, async ({ tx, payment }) => {
    const attempt = await tx.findOneOrFail(PaymentAttempt, { id: charged.id }, { refresh: true });
    const isAnother = refundKey !== undefined && refundKey !== attempt.refundKey;
    if (attempt.refundedAt || isAnother) return false;
    payment.refundFailedAt = deps.clock.now();
    const isSecond = attempt.refundReason === 'second';
    const amount = payment.amount - (isSecond ? 0 : payment.refundedAmount);
    if (!isSecond) {
      Object.assign(attempt, { refundReason: null, refundKey: null, refundBeganAt: null });
      payment.status = 'paid';
    }
    await queueRefundFailed(tx, deps, payment, amount);
    return true;
  });
}
