/** Faults of the payment provider, by their meaning for the caller. */
import Stripe from 'stripe';

/**
 * `unanswered`: no answer, or one that says to come again; what was asked may have been done. `invalid_credentials`: the key or account is not accepted
 * (any more). `missing`: there is no such thing. `refused`: it was understood and not done.
 */
export type FaultReason = 'unanswered' | 'invalid_credentials' | 'missing' | 'refused';

/** Its message names a status and a code at most: no key, no id, no words of the provider. */
export class PaymentsFault extends Error {
  readonly reason: FaultReason;
  /** Whether asking again under the same idempotency key would only repeat this answer. */
  readonly isFinal: boolean;
  constructor(reason: FaultReason, detail: string, isFinal = false) {
    super(`the provider of payments: ${reason} (${detail})`);
    this.name = 'PaymentsFault';
    this.reason = reason;
    this.isFinal = isFinal;
  }
}

export function translate(error: unknown): PaymentsFault {
  if (error instanceof PaymentsFault) return error;
  if (!(error instanceof Stripe.errors.StripeError)) throw error;
  const { statusCode = 0, code = '' } = error;
  return new PaymentsFault(reasonOf(statusCode, code), `${statusCode} ${code}`.trim(), isKept(statusCode));
}

/** What it answered once it had begun to act, a failure of its own too; not that the key is wrong, or that it is too busy. */
function isKept(status: number): boolean {
  return status >= 400 && ![401, 403, 409, 429].includes(status);
}

function reasonOf(status: number, code: string): FaultReason {
  if (status === 0 || status === 409 || status === 429 || status >= 500) return 'unanswered';
  if (status === 401 || status === 403 || code === 'account_invalid') return 'invalid_credentials';
  if (status === 404 || code === 'resource_missing') return 'missing';
  return 'refused';
}
