/**
 * The moves of a payment, whoever makes them: a call, a workflow, or the ledger check. Each locks in the same order, the booking's calendar
 * and then the payment, and none speaks to the provider.
 */

import { Booking, type WholeBooking } from '#db/bookings/booking.ts';
import { lockCalendars, signalHoldBooking } from '#db/bookings/seats.ts';
import type { EntityManager } from '#db/orm.ts';
import { signalWorkflow, startWorkflow } from '#db/workflow-messages.ts';
import { type AttemptStatus, paymentStatusAt, unknownAttempts, unsettledAttempts } from '#rules/states.ts';
import type { Clock } from '#runtime/clock.ts';
import { errors } from '#runtime/errors.ts';
import { newId } from '#runtime/ids.ts';
import { Payment } from './payment.ts';
import { PaymentAttempt } from './payment-attempt.ts';

/** A page lives as long, however early the payment ends; the provider takes no less than half an hour. */
export const sessionLifeMs = 40 * 60_000;
/** Pages of one payment that may be open at a time: enough for every reload, too few for a robot to fill the provider with. */
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

/** Writes the payment and the start of its workflow into the caller's transaction. */
export function startPayment(tx: EntityManager, clock: Clock, input: NewPayment): Payment {
  const { siteId, payoutAccountId, ...rest } = input;
  const about = { summary: 'A payment until it is paid or expired', site: siteId };
  startWorkflow(tx, clock, 'settlePayment', { paymentId: input.id }, about);
  const owned = { site: siteId, payoutAccount: payoutAccountId };
  return tx.create(Payment, { ...rest, ...owned, status: 'open', createdAt: clock.now() });
}

/** Tells the payment's workflow, when the transaction commits, that there is something to look at. */
export function signalSettlePayment(tx: EntityManager, clock: Clock, id: string): void {
  signalWorkflow(tx, clock, 'settlePayment', { paymentId: id }, 'moved');
}

export type Locked = { tx: EntityManager; payment: Payment; booking: WholeBooking | null };

/** Runs the act with the payment, and the booking that it is for, as they are and stay until it is done. */
export async function withPayment<T>(
  em: EntityManager,
  paymentId: string,
  act: (locked: Locked) => Promise<T>,
): Promise<T> {
  return await em.transactional(async (tx) => {
    const [found] = await tx.execute<{ calendar_id: string }[]>(
      'select calendar_id from booking where payment_id = ?',
      [paymentId],
    );
    if (found) await lockCalendars(tx, [found.calendar_id]);
    await tx.execute('select 1 from payment where id = ? for update', [paymentId]);
    const payment = await tx.findOneOrFail(Payment, { id: paymentId }, { refresh: true });
    const booking = await tx.findOne(Booking, { paymentId }, { populate: ['calendar'], refresh: true });
    return await act({ tx, payment, booking });
  });
}

/**
 * Writes down that a page is about to be asked for, with the key it is asked with. Null where nothing can be paid any more. Throws
 * `rate_limited` where as many are open as may be.
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
  throw errors.rate_limited('This link was opened too often. Pay on a page that is already open, or come back later.', {
    retryAfterSeconds: Math.max(1, Math.ceil((first.endsAt.getTime() - now.getTime()) / 1000)),
  });
}

/** Writes down which page it became. False where it was settled meanwhile by other hands. */
export async function recordOpenSession(em: EntityManager, id: string, page: string): Promise<boolean> {
  if ((await em.nativeUpdate(PaymentAttempt, { id, status: 'minting' }, { status: 'open', page })) === 1) return true;
  return (await em.count(PaymentAttempt, { id, status: 'open', page })) === 1;
}

/** Writes down that nobody can pay on the page any more, or that nobody can say. What waited for that goes on. */
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

/** Writes down that a payment is past its time, if it is. */
export async function expirePayment(em: EntityManager, clock: Clock, id: string): Promise<void> {
  await em.nativeUpdate(Payment, { id, status: 'open', expiresAt: { $lte: clock.now() } }, { status: 'expired' });
}

/** Nothing can be paid from now on: the pages that are open get closed. */
export function expireNow(tx: EntityManager, clock: Clock, payment: Payment): void {
  if (payment.status !== 'open') return;
  const now = clock.now();
  payment.status = 'expired';
  if (payment.expiresAt > now) payment.expiresAt = now;
  signalSettlePayment(tx, clock, payment.id);
}

/** A booking lets go of its seat once its hold is over and no page is open any more, and we of how to reach its visitor. */
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

/** Forgets how to reach the visitor of a booking that is not held any more, unless money may turn up of which they are to be told. */
export async function deleteContact(tx: EntityManager, booking: Booking): Promise<void> {
  if (booking.status === 'held' || !booking.visitorSealed) return;
  if (booking.paymentId && (await hasAttempts(tx, booking.paymentId, unknownAttempts))) return;
  booking.visitorSealed = null;
}

async function hasAttempts(tx: EntityManager, payment: string, statuses: readonly AttemptStatus[]): Promise<boolean> {
  return (await tx.count(PaymentAttempt, { payment, status: { $in: [...statuses] } })) > 0;
}

/** Forgets which messages of the provider were heard, once they come no more. Answers how many. */
export async function sweepPaymentEvents(em: EntityManager, now: Date): Promise<number> {
  const before = new Date(now.getTime() - 30 * 24 * 3600_000);
  return (await em.execute<unknown[]>('delete from payment_event where received_at < ? returning id', [before])).length;
}
