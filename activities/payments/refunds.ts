/** The activities of `refundPayment`. */
import { ApplicationFailure } from '@temporalio/common';
import { withHeartbeat } from '#activities/heartbeat.ts';
import { requirePayments } from '#activities/payments.ts';
import { abandonRefund, recordRefund, recordRefundFailure } from '#db/payments/charges.ts';
import {
  abandonPartialRefund,
  recordPartialFailure,
  recordPartialRefund,
  unfinishedRefunds,
} from '#db/payments/partial-refunds.ts';
import { PaymentAttempt } from '#db/payments/payment-attempt.ts';
import { PaymentRefund } from '#db/payments/payment-refund.ts';
import { credentialsOf } from '#db/payouts/credentials.ts';
import type { PayoutAccount } from '#db/payouts/payout-account.ts';
import { type PaymentCredentials, PaymentsFault, type RefundStatus } from '#providers/payments.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

/** A removed or disconnected account does not return. An account with an invalid key may get a new one within days. */
function isForGood(error: PaymentsFault | AppError, { rail, status }: PayoutAccount): boolean {
  if (error instanceof AppError) return rail === 'connect' || status === 'gone';
  return rail === 'connect' && error.reason === 'invalid_credentials';
}

/** The id of a partial refund is its key. */
const isPartial = (refundKey: string | undefined): refundKey is string => isId('ref', refundKey ?? '');

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
      const { em } = deps;
      const isGivenUp = isPartial(refundKey)
        ? await abandonPartialRefund(em(), deps, { id: refundKey, attempt })
        : await abandonRefund(em(), deps, attempt, refundKey);
      if (!isGivenUp) return 'kept';
      deps.log.error({ paymentId: attempt.payment.id, reason: attempt.refundReason }, 'a refund was abandoned');
      return 'given up';
    },
  };
}

/**
 * Refunds a charge, if that is still due and this is the current refund, after its unfinished partial refunds; or, with
 * the id of a partial refund, that part. Returns `pending` while the provider processes it. Throws if the provider
 * fails, non-retryably if the account is no longer used or nothing is left to refund.
 */
export async function giveBackCharge(deps: Deps, id: string, refundKey?: string): Promise<string> {
  const attempt = await load(deps, id);
  if (isPartial(refundKey)) return await giveBackPart(deps, attempt, refundKey);
  if (!attempt?.charge || !attempt.refundKey) return 'kept';
  if (attempt.refundedAt) return 'refunded';
  if (refundKey !== undefined && refundKey !== attempt.refundKey) return 'replaced';
  const { charge } = attempt;
  // The provider repeats its answer under the same idempotency key.
  const idempotencyKey = `${attempt.refundKey}:${attempt.refundRefusals}`;
  const failed = (fault: Failure) => recordRefundFailure(deps.em(), attempt, fault);
  for (const part of await unfinishedRefunds(deps.em(), id)) {
    // So that the rest is known, and no part is refunded with it a second time.
    if ((await giveBackPart(deps, attempt, part.id)) === 'pending') return 'pending';
  }
  const status = await requestRefund(deps, attempt, failed, (credentials) =>
    requirePayments(deps).refund(credentials, { charge, idempotencyKey }),
  );
  if (status === 'done') await recordRefund(deps.em(), deps, attempt, await payerOf(deps, attempt));
  else await failed({ why: waiting, isKept: true });
  return status === 'done' ? 'refunded' : 'pending';
}

const waiting = 'the provider has not completed the refund yet';
type Attempt = NonNullable<Awaited<ReturnType<typeof load>>>;

/** Refunds a part of a charge. */
async function giveBackPart(deps: Deps, attempt: Attempt | null, id: string): Promise<string> {
  const refund = await deps.em().findOne(PaymentRefund, { id });
  if (!attempt?.charge || !refund) return 'kept';
  if (refund.refundedAt || refund.failedAt) return refund.refundedAt ? 'refunded' : 'given up';
  const { charge, payment } = attempt;
  const { amount, refusals } = refund;
  const part = { charge, id, amount, currency: payment.currency, idempotencyKey: `${id}:${refusals}` };
  const failed = (fault: Failure) => recordPartialFailure(deps.em(), refund, fault);
  const status = await requestRefund(deps, attempt, failed, (credentials) =>
    requirePayments(deps).refundPart(credentials, part),
  );
  if (status === 'pending') await failed({ why: waiting, isKept: false });
  if (status === 'pending') return status;
  if (status === 'done') {
    await recordPartialRefund(deps.em(), deps, { id, attempt }, await payerOf(deps, attempt));
    return 'refunded';
  }
  await failed({ why: 'the charge has less left than this refund', isKept: false });
  await abandonPartialRefund(deps.em(), deps, { id, attempt });
  return 'given up';
}

/** The payer's address, which only the provider has; null if it cannot be read now. The refund is recorded anyway. */
async function payerOf(deps: Deps, { sessionId, payment }: Attempt): Promise<string | null> {
  if (!deps.config.mail || !sessionId) return null;
  try {
    const session = await requirePayments(deps).readSession(credentialsOf(deps, payment.payoutAccount), sessionId);
    return session.email;
  } catch (error) {
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    deps.log.warn({ err: error, paymentId: payment.id }, 'a payer could not be told of a refund');
    return null;
  }
}

type Failure = { why: string; isKept: boolean };

/** Calls the provider, and records why it failed. */
async function requestRefund<Status extends RefundStatus | 'impossible'>(
  deps: Deps,
  { payment }: Attempt,
  failed: (failure: Failure) => Promise<void>,
  request: (credentials: PaymentCredentials) => Promise<{ status: Status }>,
): Promise<Exclude<Status, 'failed'>> {
  try {
    const { status } = await request(credentialsOf(deps, payment.payoutAccount));
    if (status === 'failed') throw new PaymentsFault('refused', 'the refund failed', true);
    return status as Exclude<Status, 'failed'>;
  } catch (error) {
    if (!(error instanceof PaymentsFault || error instanceof AppError)) throw error;
    const isKept = error instanceof PaymentsFault && error.isFinal;
    await failed({ why: error.message, isKept });
    const nonRetryable = isForGood(error, payment.payoutAccount);
    throw ApplicationFailure.create({ message: error.message, type: 'refund', nonRetryable });
  }
}
