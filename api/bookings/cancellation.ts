/** Reading and cancelling bookings: by the site's people, or by the visitor with the link in the e-mail. */

import type { z } from 'zod';
import { type Actor, requireAccessible, requireOwner } from '#api/access.ts';
import { type mailStatus, shownMailStatus } from '#api/mail-status.ts';
import { hashSecret } from '#api/secrets.ts';
import { Booking } from '#db/bookings/booking.ts';
import { type Cancellation, queueCancellationMails } from '#db/bookings/change-mails.ts';
import { lockCalendarOf, signalHoldBooking } from '#db/bookings/seats.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { refundCaptured } from '#db/payments/charges.ts';
import { refundMailOf } from '#db/payments/mails.ts';
import { Payment } from '#db/payments/payment.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { deleteContact, expireNow } from '#db/payments/transitions.ts';
import { Site } from '#db/sites/site.ts';
import { written } from '#rules/currencies.ts';
import { bookingStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { type ShownBooking, shown } from './schemas.ts';

/** The booking, if the caller may act on its site. Throws `not_found`. */
export async function loadBooking(em: EntityManager, actor: Actor, id: string): Promise<ShownBooking> {
  const booking = isId('book', id) ? await em.findOne(Booking, { id }, shown) : null;
  return await requireAccessible(em, actor, booking, { what: 'booking', list: 'booking.list' });
}

/** The booking of the link in a visitor's e-mail. Throws `not_found`. */
export async function bookingOfLink(em: EntityManager, site: Site, cancelSecret: string): Promise<ShownBooking> {
  const booking = await em.findOne(Booking, { site, cancelHash: hashSecret(cancelSecret) }, shown);
  if (booking) return booking;
  throw errors.not_found('We can’t find this booking. Use the link in your confirmation e-mail.');
}

/** The refund of a cancelled booking, as text; `way` says whether it is automatic or must come from the owner of the payout account. */
export type MoneyBack = NonNullable<Cancellation['moneyBack']>;
export type Cancelled = { booking: ShownBooking; moneyBack: MoneyBack | null };

/**
 * Cancels the booking, releases its seats and starts the refund. Throws `not_cancellable`, and `owner_only` to a
 * collaborator where money goes back to the visitor.
 */
export async function cancelBooking(
  em: EntityManager,
  deps: Deps,
  found: Pick<Booking, 'id'>,
  by: 'visitor' | Actor,
): Promise<Cancelled> {
  return await em.transactional(async (tx) => {
    await lockCalendarOf(tx, found.id);
    const booking = await tx.findOneOrFail(Booking, { id: found.id }, { ...shown, refresh: true });
    const status = bookingStatusAt(booking, deps.clock.now());
    if (status === 'cancelled' || status === 'expired') throw notLive(status);
    const site = await tx.findOneOrFail(Site, booking.site.id);
    if (status === 'held') signalHoldBooking(tx, deps.clock, booking.id);
    const moneyBack = booking.paymentId ? await endPaying(tx, deps.clock, booking.paymentId) : null;
    if (moneyBack && by !== 'visitor') requireOwner(site, by, 'cancel a paid booking, which refunds it');
    booking.status = 'cancelled';
    booking.cancelledAt = deps.clock.now();
    if (by !== 'visitor') recordCancellation(tx, deps.clock, by, { booking, site, moneyBack });
    await queueCancellationMails(tx, deps, { booking, site, by: by === 'visitor' ? by : 'site', moneyBack });
    // Not the contact of a payment: a visitor who still pays in an open checkout session gets a mail about the refund.
    await deleteContact(tx, booking);
    return { booking, moneyBack };
  });
}

export type Refund = {
  payment_id: string;
  amount: number;
  currency: string;
  status: 'refunding' | 'refunded' | 'owed';
  /** Of the e-mail to the payer about the refund. Null: none, or none yet. */
  mail: z.output<typeof mailStatus> | null;
};

/** What goes back because the booking was cancelled; null where nothing was paid, or was refunded before. */
export async function refundOf(em: EntityManager, { paymentId }: Booking): Promise<Refund | null> {
  const payment = paymentId ? await em.findOne(Payment, { id: paymentId }, { refresh: true }) : null;
  if (!payment?.paidAt) return null;
  const { id: payment_id, currency, status } = payment;
  const [parts] = await em.execute<[{ sum: number }]>(
    `select coalesce(sum(r.amount), 0)::int as sum from payment_refund r join payment_attempt a on a.id = r.attempt_id
     where a.payment_id = ? and r.refunded_at is not null`,
    [payment_id],
  );
  const amount = payment.amount - parts.sum;
  if (status === 'paid') return { payment_id, amount, currency, status: 'owed', mail: null };
  const isOurs = (await em.count(PaymentAttempt, { payment: payment_id, refundReason: 'cancelled' })) > 0;
  if (!isOurs) return null;
  const sent = await refundMailOf(em, payment);
  const mail = sent && shownMailStatus(sent);
  return { payment_id, amount, currency, status: status === 'refunded' ? 'refunded' : 'refunding', mail };
}

function recordCancellation(
  tx: EntityManager,
  clock: Deps['clock'],
  by: Actor,
  { booking: { id, kind, reference, paymentId }, site, moneyBack }: Cancelled & { site: Site },
): void {
  recordAct(tx, clock, by, 'booking.cancelled', { site, subject: { id, name: reference }, detail: { kind } });
  if (paymentId && moneyBack?.way === 'automatic')
    recordAct(tx, clock, by, 'payment.refunded', { site, subject: { id: paymentId, name: null } });
}

/** Starts the refund if possible, and expires the payment. The calendar is locked. */
async function endPaying(tx: EntityManager, clock: Deps['clock'], paymentId: string): Promise<MoneyBack | null> {
  await tx.execute('select 1 from payment where id = ? for update', [paymentId]);
  const whole = { populate: ['payoutAccount'], refresh: true } as const;
  const payment = await tx.findOneOrFail(Payment, { id: paymentId }, whole);
  expireNow(tx, clock, payment);
  if (payment.status !== 'paid') return null;
  const sum = written({ ...payment, amount: payment.amount - payment.refundedAmount });
  // The booking is cancelled anyway; the ledger check reports what is owed.
  const before = payment.refundedAmount > 0 ? written({ ...payment, amount: payment.refundedAmount }) : null;
  if (payment.payoutAccount.status === 'gone') return { sum, before, way: 'by the owner' };
  await refundCaptured({ tx, payment }, clock, 'cancelled');
  return { sum, before, way: 'automatic' };
}

export function notLive(status: 'cancelled' | 'expired'): AppError {
  return errors.not_cancellable(
    status === 'cancelled'
      ? 'This booking has already been cancelled.'
      : 'This booking expired because it was not paid for in time.',
  );
}
