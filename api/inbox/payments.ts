/** Payments of the last week that were not refunded, and refunds that failed until they are requested again. */

import { Payment } from '#db/payments/payment.ts';
import { bookingsOf, descriptionOf } from '#db/payments/subject.ts';
import { call } from '#rules/calls/calls.ts';
import { written } from '#rules/currencies.ts';
import { dayMs } from '#rules/time.ts';
import { unfinished } from './done.ts';
import type { InboxItem, Source } from './item.ts';

const weekMs = 7 * dayMs;

export const recentPayments: Source = async (em, { siteIds, accountId }, since, { now, limit }) => {
  const after = new Date(Math.max(since.getTime(), now.getTime() - weekMs));
  const payments = await em.find(
    Payment,
    {
      site: { id: { $in: [...siteIds] }, status: 'active' },
      status: 'paid',
      paidAt: { $gt: after },
      [unfinished(accountId, { kind: 'payment_paid', at: 'paid_at' })]: [],
    },
    { populate: ['site'], orderBy: { paidAt: 'desc' }, limit },
  );
  const bookings = await bookingsOf(
    em,
    payments.map(({ id }) => id),
  );
  return payments.map((payment): InboxItem => {
    const { id, site, paidAt, createdAt, reference } = payment;
    const booking = bookings.get(id);
    const description = descriptionOf(payment, booking);
    return {
      kind: 'payment_paid',
      id,
      site: { id: site.id, name: site.name },
      who: booking?.visitorName ?? null,
      at: paidAt ?? createdAt,
      title: `${written(payment)} was paid on ${site.name}${description === null ? '' : `: ${description}`}.`,
      ...(reference == null ? {} : { message: reference }),
      nextAction: `Tell the owner. ${call('payment.read', { id })} returns the payment; ${call('payment.refund', { id })} refunds it.`,
    };
  });
};

export const failedRefunds: Source = async (em, { siteIds, accountId }, since, { limit }) => {
  const payments = await em.find(
    Payment,
    {
      site: { id: { $in: [...siteIds] }, status: 'active' },
      refundFailedAt: { $gt: since },
      [unfinished(accountId, { kind: 'refund_failed', at: 'refund_failed_at' })]: [],
    },
    { populate: ['site'], orderBy: { refundFailedAt: 'desc' }, limit },
  );
  const bookings = await bookingsOf(
    em,
    payments.map(({ id }) => id),
  );
  return payments.map((payment): InboxItem => {
    const { id, site, refundFailedAt, reference } = payment;
    return {
      kind: 'refund_failed',
      id,
      site: { id: site.id, name: site.name },
      who: bookings.get(id)?.visitorName ?? null,
      at: refundFailedAt as Date,
      title: `A refund of a payment of ${written(payment)} on ${site.name} failed: the payer has not received the money.`,
      ...(reference == null ? {} : { message: reference }),
      nextAction: `Tell the owner to add funds or a new key to the payout account. Then the owner’s agent calls ${call('payment.refund', { id })} again, or the owner refunds it in the payment provider’s dashboard.`,
    };
  });
};
