/** Faults of the payment provider, by their meaning for the caller. */
import { sdk } from './sdk.ts';

/**
 * `unanswered`: no response, or one that asks for a retry; the request may have taken effect. `invalid_credentials`:
 * the key or account is not accepted, or no longer. `missing`: the object does not exist. `refused`: the request was
 * understood and rejected.
 */
export type FaultReason = 'unanswered' | 'invalid_credentials' | 'missing' | 'refused';

/** The message contains at most a status and a code: no key, no id, no text of the provider. */
export class PaymentsFault extends Error {
  readonly reason: FaultReason;
  /** Whether a retry with the same idempotency key would only repeat this response. */
  readonly isFinal: boolean;
  constructor(reason: FaultReason, detail: string, isFinal = false) {
    super(`the payment provider failed: ${reason} (${detail})`);
    this.name = 'PaymentsFault';
    this.reason = reason;
    this.isFinal = isFinal;
  }
}

export function translate(error: unknown): PaymentsFault {
  if (error instanceof PaymentsFault) return error;
  if (!(error instanceof sdk().errors.StripeError)) throw error;
  const { statusCode = 0, code = '' } = error;
  return new PaymentsFault(reasonOf(statusCode, code), `${statusCode} ${code}`.trim(), isKept(statusCode));
}

/**
 * The provider repeats a response once it has begun to act, even a failure; not if the key is wrong or it is too busy.
 */
function isKept(status: number): boolean {
  return status >= 400 && ![401, 403, 409, 429].includes(status);
}

function reasonOf(status: number, code: string): FaultReason {
  if (status === 0 || status === 409 || status === 429 || status >= 500) return 'unanswered';
  if (status === 401 || status === 403 || code === 'account_invalid') return 'invalid_credentials';
  if (status === 404 || code === 'resource_missing') return 'missing';
  return 'refused';
}
