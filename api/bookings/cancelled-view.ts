/** The answer to a cancellation: what goes back to the visitor, who is told, and what is left to do for the owner. */
import { z } from 'zod';
import { mailStatus } from '#api/mail-status.ts';
import type { EntityManager } from '#db/orm.ts';
import { Payment } from '#db/payments/payment.ts';
import { written } from '#rules/currencies.ts';
import type { Deps } from '#runtime/deps.ts';
import { type Refund, refundOf } from './cancellation.ts';
import { bookingSchema, bookingView, type ShownBooking } from './schemas.ts';
import { howToNotify } from './unnotified-visitors.ts';

export const cancelledBookingSchema = bookingSchema
  .extend({
    refund: z
      .object({
        payment_id: z.string(),
        amount: z.number().int(),
        currency: z.string(),
        status: z
          .enum(['refunding', 'refunded', 'owed'])
          .describe('owed: the payout account is no longer connected, so its owner has to refund the payment.'),
        mail: mailStatus
          .nullable()
          .describe(
            'Status of the e-mail to the payer about the refund. null: none yet, as it is queued when the refund is complete; or none, as the payment provider has no address.',
          ),
      })
      .nullable()
      .describe('What goes back to the visitor because of the cancellation. null: nothing.'),
  })
  .meta({ id: 'CancelledBooking' });

export async function cancelledView(em: EntityManager, { config, clock }: Deps, booking: ShownBooking) {
  const refund = await refundOf(em, booking);
  const left = [
    ...(refund?.status === 'owed' ? [owed(written(refund))] : []),
    ...((booking.mail && booking.mail.status !== 'failed') || !booking.visitorName
      ? []
      : [await nextStep(em, booking), ...(refund && config.mail ? refundMail(refund) : [])]),
  ];
  const shown = { ...bookingView(config, booking, clock.now()), refund };
  return left.length > 0 ? { ...shown, next_action: left.join(' ') } : shown;
}

/** Who has to tell the visitor of the cancellation, and how. */
async function nextStep(em: EntityManager, booking: ShownBooking): Promise<string> {
  const { visitorName, reference, paymentId } = booking;
  if (paymentId && (await em.count(Payment, { id: paymentId, paidAt: null })) > 0) {
    return `${visitorName} had not paid and gets no e-mail: the payment page says that the booking is no longer held.`;
  }
  return await howToNotify(em, booking, { about: 'the cancellation', what: `that booking ${reference} is cancelled` });
}

/** What the payer learns by e-mail. It may be another person than the visitor. */
function refundMail({ status, mail }: Refund): string[] {
  if (status === 'owed') return [];
  if (status === 'refunding')
    return [
      'When the refund is complete, the payer gets an e-mail about the refund and the cancellation, if the payment provider has their address.',
    ];
  if (mail === 'sent') return ['The payer got an e-mail about the refund and the cancellation.'];
  if (mail === 'queued') return ['The payer is getting an e-mail about the refund and the cancellation.'];
  return ['The payer gets no e-mail about the refund.'];
}

const owed = (sum: string) =>
  `The visitor is owed ${sum}. The payout account that received the payment is no longer connected, so the platform cannot refund it. ` +
  'Ask the owner of that account to refund the payment in their payment provider’s dashboard.';
