/** The steps of `refundPayment`. */
import { ApplicationFailure } from '@temporalio/common';
import { giveUpRefund, refundDone, refundHindered } from '../../db/charges.ts';
import { PaymentAttempt } from '../../db/entities/payment-attempt.ts';
import type { PayoutAccount } from '../../db/entities/payout-account.ts';
import { credentialsOf } from '../../db/payouts.ts';
import { AppError } from '../../errors.ts';
import { PaymentsFault } from '../../providers/payments.ts';
import type { PlatformDeps } from '../index.ts';
import { required } from '../payments.ts';

/** An account that was removed or cut off does not come back; one with a key that is not taken may get another within days. */
function isForGood(error: PaymentsFault | AppError, { rail, status }: PayoutAccount): boolean {
  if (error instanceof AppError) return rail === 'connect' || status === 'gone';
  return rail === 'connect' && error.because === 'gone';
}

export function refundActivities(deps: PlatformDeps) {
  const load = (id: string) => deps.em().findOne(PaymentAttempt, { id }, { populate: ['payment.payoutAccount'] });

  return {
    /** Gives a charge back, if it has not gone yet. Throws until that is done; for good where the account is not used any more. */
    async giveBackCharge(id: string): Promise<string> {
      const attempt = await load(id);
      if (!attempt?.charge || !attempt.refundKey) return 'kept';
      if (attempt.refundedAt) return 'refunded';
      try {
        const credentials = credentialsOf(deps, attempt.payment.payoutAccount);
        const asked = { charge: attempt.charge, idempotencyKey: attempt.refundKey };
        const { status } = await required(deps).refund(credentials, asked);
        if (status === 'failed') throw new PaymentsFault('refused', 'the refund failed');
        await refundDone(deps.em(), deps.clock, attempt);
        return 'refunded';
      } catch (error) {
        if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
        await refundHindered(deps.em(), id, error.message);
        const nonRetryable = isForGood(error, attempt.payment.payoutAccount);
        throw ApplicationFailure.create({ message: error.message, type: 'refund', nonRetryable });
      }
    },

    /** The charge stays where it is, for all that was tried. */
    async giveUpRefund(id: string): Promise<string> {
      const attempt = await load(id);
      if (!attempt) return 'gone';
      deps.log.error({ paymentId: attempt.payment.id, reason: attempt.refundReason }, 'a refund was given up');
      await giveUpRefund(deps.em(), attempt);
      return 'given up';
    },
  };
}
