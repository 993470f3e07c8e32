/**
 * State transitions of payments, for calls, workflows and the ledger check. Each locks the booking's calendar and then
 * the payment; none calls the provider.
 */

import { Booking, type WholeBooking } from '#db/bookings/booking.ts';
import { lockCalendarOf, signalHoldBooking } from '#db/bookings/seats.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { type AttemptStatus, paymentStatusAt, unknownAttempts, unsettledAttempts } from '#rules/states.ts';
import { dayMs, minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { newId } from '#runtime/ids.ts';
import { Payment } from './payment.ts';
import { PaymentAttempt } from './payment-attempt.ts';

/** Lifetime of a checkout session, however early the payment expires; the provider's minimum is half an hour. */
const sessionLifeMs = 40 * minuteMs;
/** A session with less time left is not given to another visit: its payer could not finish. */
const sessionReuseMs = 10 * minuteMs;
/** How often visits to an open session make its workflow poll more often. */
const wakeMs = minuteMs;

export type NewPayment = {
  id: string;
  siteId: string;
  payoutAccountId: string;
  amount: number;
  currency: string;
  reference: string | null;
  /** What is paid for, as the payer reads it. That of a booking follows from the booking. */
  description?: string | null;
  expiresAt: Date;
};

/** Creates the payment and starts its workflow in the caller's transaction. */
export function startPayment(tx: EntityManager, clock: Clock, input: NewPayment): Payment {
  const { siteId, payoutAccountId, ...rest } = input;
  const about = { summary: 'Wait until a payment is made or expires', site: siteId };
  startWorkflow(tx, clock, 'settlePayment', { paymentId: input.id }, about);
  const owned = { site: siteId, payoutAccount: payoutAccountId };
  return tx.create(Payment, { ...rest, ...owned, status: 'open', createdAt: clock.now() });
}

/** Signals the payment's workflow, when the transaction commits, that the row has changed. */
export function signalSettlePayment(tx: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(tx, clock, 'settlePayment', { paymentId: id }, 'moved');
}

export type Locked = { tx: EntityManager; payment: Payment; booking: WholeBooking | null };

/** Runs `act` with the payment and its booking, both locked until it is done. */
export async function withPayment<T>(
  em: EntityManager,
  paymentId: string,
  act: (locked: Locked) => Promise<T>,
): Promise<T> {
  return await em.transactional(async (tx) => {
    const [booked] = await tx.execute<{ id: string }[]>('select id from booking where payment_id = ?', [paymentId]);
    if (booked) await lockCalendarOf(tx, booked.id);
    await tx.execute('select 1 from payment where id = ? for update', [paymentId]);
    const payment = await tx.findOneOrFail(Payment, { id: paymentId }, { refresh: true });
    const booking = await tx.findOne(Booking, { paymentId }, { populate: ['calendar'], refresh: true });
    return await act({ tx, payment, booking });
  });
}

/**
 * The checkout session for a visit to the payment link: the open one, or else a new one in the database, with the
 * idempotency key for the provider. Returns null where the payment can no longer be paid.
 */
export async function ensureCheckoutSession(
  em: EntityManager,
  clock: Clock,
  paymentId: string,
): Promise<{ attempt: PaymentAttempt; isNew: boolean } | null> {
  return await withPayment(em, paymentId, async ({ tx, payment, booking }) => {
    const now = clock.now();
    if (paymentStatusAt(payment, now) !== 'open' || payment.closeRequestedAt) return null;
    const current = await reusableSession(tx, clock, payment);
    if (current) return { attempt: current, isNew: false };
    if (booking) booking.paying = true;
    const id = newId('page');
    const attempt = tx.create(PaymentAttempt, {
      id,
      payment,
      status: 'minting',
      idempotencyKey: `${payment.id}:${id}`,
      openedAt: now,
      endsAt: new Date(now.getTime() + sessionLifeMs),
    });
    signalSettlePayment(tx, clock, payment.id);
    return { attempt, isNew: true };
  });
}

/** An unsettled session with enough time left. Its workflow polls it as often as a new one. */
async function reusableSession(tx: EntityManager, clock: Clock, payment: Payment): Promise<PaymentAttempt | null> {
  const now = clock.now().getTime();
  const lasting = { status: { $in: [...unsettledAttempts] }, endsAt: { $gt: new Date(now + sessionReuseMs) } };
  const [current] = await tx.find(
    PaymentAttempt,
    { payment: payment.id, ...lasting },
    { orderBy: { endsAt: 'desc' }, limit: 1, refresh: true },
  );
  if (current?.status === 'open' && now - current.openedAt.getTime() > wakeMs) {
    current.openedAt = clock.now();
    signalSettlePayment(tx, clock, payment.id);
  }
  return current ?? null;
}

/** Records the provider's id of the session. Returns false where the session was settled concurrently. */
export async function recordOpenSession(em: EntityManager, id: string, sessionId: string): Promise<boolean> {
  const opened = await em.nativeUpdate(PaymentAttempt, { id, status: 'minting' }, { status: 'open', sessionId });
  return opened === 1 || (await em.count(PaymentAttempt, { id, status: 'open', sessionId })) === 1;
}

/**
 * Marks a session as closed, or as unknown (`unasked`) where the provider could not be reached, and releases the hold.
 */
export async function closeCheckoutSession(
  em: EntityManager,
  clock: Clock,
  attempt: Pick<PaymentAttempt, 'id' | 'payment'>,
  status: 'closed' | 'unasked' = 'closed',
): Promise<void> {
  await withPayment(em, attempt.payment.id, async (locked) => {
    const { tx, payment } = locked;
    await tx.nativeUpdate(PaymentAttempt, { id: attempt.id, status: { $in: [...unknownAttempts] } }, { status });
    await releaseHold(locked, clock);
    payment.status = paymentStatusAt(payment, clock.now());
    if (payment.closeRequestedAt) await finishClosing(locked, clock);
  });
}

/** Marks an overdue payment as expired. */
export async function expirePayment(em: EntityManager, clock: Clock, id: string): Promise<void> {
  await em.nativeUpdate(Payment, { id, status: 'open', expiresAt: { $lte: clock.now() } }, { status: 'expired' });
}

/**
 * Closes the link of an open payment: no further checkout session is created, and the hold of its booking ends. It
 * expires when its sessions are closed, so a payer who is faster has paid. Returns false if there is nothing to close.
 */
export async function requestClosing({ tx, payment, booking }: Locked, clock: Clock): Promise<boolean> {
  const now = clock.now();
  if (paymentStatusAt(payment, now) !== 'open' || payment.closeRequestedAt) return false;
  payment.closeRequestedAt = now;
  if (booking?.status === 'held') {
    if (booking.holdExpiresAt && booking.holdExpiresAt > now) booking.holdExpiresAt = now;
    signalHoldBooking(tx, clock, booking.id);
  }
  await finishClosing({ tx, payment, booking }, clock);
  signalSettlePayment(tx, clock, payment.id);
  return true;
}

/** Expires a payment whose link is closed, once none of its sessions can be paid. */
async function finishClosing({ tx, payment }: Locked, clock: Clock): Promise<void> {
  if (!(await hasAttempts(tx, payment.id, unsettledAttempts))) expireNow(tx, clock, payment);
}

/** Expires an open payment now; its workflow closes the checkout sessions. */
export function expireNow(tx: EntityManager, clock: Clock, payment: Payment): void {
  if (payment.status !== 'open') return;
  const now = clock.now();
  payment.status = 'expired';
  if (payment.expiresAt > now) payment.expiresAt = now;
  signalSettlePayment(tx, clock, payment.id);
}

/**
 * Releases the seats of a booking whose hold is over and whose sessions are all closed, and deletes the visitor's
 * contact.
 */
export async function releaseHold({ tx, payment, booking }: Locked, clock: Clock): Promise<void> {
  if (!booking) return;
  await tx.flush();
  if (booking.paying && !(await hasAttempts(tx, payment.id, unsettledAttempts))) {
    booking.paying = false;
    const isOver = booking.status === 'held' && booking.holdExpiresAt && booking.holdExpiresAt <= clock.now();
    if (isOver) booking.status = 'expired';
    if (booking.status !== 'held') signalHoldBooking(tx, clock, booking.id);
  }
  await deleteContact(tx, booking);
}

/**
 * Deletes the contact of a booking that is no longer held, unless a charge may still arrive and the visitor must be
 * told of a refund.
 */
export async function deleteContact(tx: EntityManager, booking: Booking): Promise<void> {
  if (booking.status === 'held' || !booking.visitorSealed) return;
  if (booking.paymentId && (await hasAttempts(tx, booking.paymentId, unknownAttempts))) return;
  booking.visitorSealed = null;
}

async function hasAttempts(tx: EntityManager, payment: string, statuses: readonly AttemptStatus[]): Promise<boolean> {
  return (await tx.count(PaymentAttempt, { payment, status: { $in: [...statuses] } })) > 0;
}

/** Deletes the ids of events that the provider no longer repeats. Returns how many. */
export async function sweepPaymentEvents(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - 30 * dayMs);
  return (await em.execute<unknown[]>('delete from payment_event where received_at < ? returning id', [before])).length;
}
