/** What went wrong at the provider of payments, told by what it means for who asked. */
import Stripe from 'stripe';

/**
 * `unanswered`: no answer, or one that says to come again; what was asked may have been done. `gone`: the key or account is not accepted
 * (any more). `missing`: there is no such thing. `refused`: it was understood and not done.
 */
export type Because = 'unanswered' | 'gone' | 'missing' | 'refused';

/** Its message names a status and a code at most: no key, no id, no words of the provider. */
export class PaymentsFault extends Error {
  readonly because: Because;
  constructor(because: Because, detail: string) {
    super(`the provider of payments: ${because} (${detail})`);
    this.name = 'PaymentsFault';
    this.because = because;
  }
}

export function translate(error: unknown): PaymentsFault {
  if (error instanceof PaymentsFault) return error;
  if (!(error instanceof Stripe.errors.StripeError)) throw error;
  const { statusCode = 0, code = '' } = error;
  return new PaymentsFault(becauseOf(statusCode, code), `${statusCode} ${code}`.trim());
}

function becauseOf(status: number, code: string): Because {
  if (status === 0 || status === 409 || status === 429 || status >= 500) return 'unanswered';
  if (status === 401 || status === 403 || code === 'account_invalid') return 'gone';
  if (status === 404 || code === 'resource_missing') return 'missing';
  return 'refused';
}
