/** The activities of `refundPayment`. */
import { ApplicationFailure } from '@temporalio/common';
import { withHeartbeat } from '#activities/heartbeat.ts';
import { requirePayments } from '#activities/payments.ts';
import { abandonRefund, recordRefund, recordRefundFailure } from '#db/payments/charges.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { credentialsOf } from '#db/payouts/credentials.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import { PaymentsFault } from '#providers/payments.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';

/** A removed or disconnected account does not return. An account with an invalid key may get a new one within days. */
function isForGood(error: PaymentsFault | AppError, { rail, status }: PayoutAccount): boolean {
  if (error instanceof AppError) return rail === 'connect' || status === 'gone';
  return rail === 'connect' && error.reason === 'invalid_credentials';
}

const load = (deps: Deps, id: string) =>
  deps.em().findOne(PaymentAttempt, { id }, { populate: ['payment.payoutAccount'] });

export function refundActivities(deps: Deps) {
  return {
    giveBackCharge: (id: string, refundKey?: string): Promise<string> =>
      withHeartbeat(() => giveBackCharge(deps, id, refundKey)),

    /** Records that the charge could not be refunded. */
    async giveUpRefund(id: string, refundKey?: string): Promise<string> {
      const attempt = await load(deps, id);
      if (!attempt) return 'gone';
      if (!(await abandonRefund(deps.em(), attempt, refundKey))) return 'kept';
      deps.log.error({ paymentId: attempt.payment.id, reason: attempt.refundReason }, 'a refund was abandoned');
      return 'given up';
    },
  };
}

/**
 * Refunds a charge, if that is still due and this is the current refund. Returns `pending` while the provider processes it. Throws if the
 * provider fails, non-retryably if the account is no longer used.
 */
export async function giveBackCharge(deps: Deps, id: string, refundKey?: string): Promise<string> {
  const attempt = await load(deps, id);
  if (!attempt?.charge || !attempt.refundKey) return 'kept';
  if (attempt.refundedAt) return 'refunded';
  if (refundKey !== undefined && refundKey !== attempt.refundKey) return 'replaced';
  try {
    const credentials = credentialsOf(deps, attempt.payment.payoutAccount);
    // The provider repeats its answer under the same idempotency key.
    const idempotencyKey = `${attempt.refundKey}:${attempt.refundRefusals}`;
    const { status } = await requirePayments(deps).refund(credentials, { charge: attempt.charge, idempotencyKey });
    if (status === 'failed') throw new PaymentsFault('refused', 'the refund failed', true);
    if (status === 'done') await recordRefund(deps.em(), deps.clock, attempt);
    else
      await recordRefundFailure(deps.em(), attempt, {
        why: 'the provider has not completed the refund yet',
        isKept: true,
      });
    return status === 'done' ? 'refunded' : 'pending';
  } catch (error) {
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    const isKept = error instanceof PaymentsFault && error.isFinal;
    await recordRefundFailure(deps.em(), attempt, { why: error.message, isKept });
    const nonRetryable = isForGood(error, attempt.payment.payoutAccount);
    throw ApplicationFailure.create({ message: error.message, type: 'refund', nonRetryable });
  }
}
