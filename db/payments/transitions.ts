/**
 * State transitions of payments, for calls, workflows and the ledger check. Each locks the booking's calendar and then
 * the payment; none calls the provider.
 */

import { Booking, type WholeBooking } from '#db/bookings/booking.ts';
import { lockCalendars, signalHoldBooking } from '#db/bookings/seats.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { type AttemptStatus, paymentStatusAt, unknownAttempts, unsettledAttempts } from '#rules/states.ts';
import { dayMs, minuteMs } from '#rules/time.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { Payment } from './payment.ts';
import { PaymentAttempt } from './payment-attempt.ts';

/** Lifetime of a checkout session, however early the payment expires; the provider's minimum is half an hour. */
const sessionLifeMs = 40 * minuteMs;
/** Maximum of open checkout sessions per payment: enough for reloads, too few for a robot to flood the provider. */
export const openSessionsMax = 20;

export type NewPayment = {
  id: string;
  siteId: string;
  payoutAccountId: string;
  amount: number;
  currency: string;
  reference: string | null;
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
    const [calendar] = await tx.execute<{ calendar_id: string }[]>(
      'select calendar_id from booking where payment_id = ?',
      [paymentId],
    );
    if (calendar) await lockCalendars(tx, [calendar.calendar_id]);
    await tx.execute('select 1 from payment where id = ? for update', [paymentId]);
    const payment = await tx.findOneOrFail(Payment, { id: paymentId }, { refresh: true });
    const booking = await tx.findOne(Booking, { paymentId }, { populate: ['calendar'], refresh: true });
    return await act({ tx, payment, booking });
  });
}

/**
 * Creates a checkout session in the database, with the idempotency key for the provider. Returns null where the
 * payment can no longer be paid. Throws `rate_limited` at the maximum of open sessions.
 */
export async function createCheckoutSession(
  em: EntityManager,
  clock: Clock,
  paymentId: string,
): Promise<{ payment: Payment; attempt: PaymentAttempt } | null> {
  return await withPayment(em, paymentId, async ({ tx, payment, booking }) => {
    const now = clock.now();
    if (paymentStatusAt(payment, now) !== 'open') return null;
    await limitOpenSessions(tx, now, payment.id);
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
    return { payment, attempt };
  });
}

/** Throws `rate_limited`. */
async function limitOpenSessions(tx: EntityManager, now: Date, payment: string): Promise<void> {
  const unsettled = { payment, status: { $in: [...unsettledAttempts] } };
  const open = await tx.find(PaymentAttempt, unsettled, { orderBy: { endsAt: 'asc' }, limit: openSessionsMax });
  const [first] = open;
  if (!first || open.length < openSessionsMax) return;
  throw errors.rate_limited(
    'This link has been opened too many times. Pay on a page that you already have open, or come back later.',
    {
      retryAfterSeconds: Math.max(1, Math.ceil((first.endsAt.getTime() - now.getTime()) / 1000)),
    },
  );
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
  });
}

/** Marks an overdue payment as expired. */
export async function expirePayment(em: EntityManager, clock: Clock, id: string): Promise<void> {
  await em.nativeUpdate(Payment, { id, status: 'open', expiresAt: { $lte: clock.now() } }, { status: 'expired' });
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
