/** Keys that owners bring, judged before they are sealed. No message says a word of the key. */

import { missing } from '#api/capabilities.ts';
import { lookAtKey, movesRealMoney } from '#providers/payments/keys.ts';
import { type AccountState, type Payments, PaymentsFault, providerError } from '#providers/payments.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** What the provider says of the key's account. Throws `invalid_payout_account`, `provider_error`. */
export async function checkKey(deps: Pick<Deps, 'config' | 'payments'>, key: string): Promise<AccountState> {
  const fault = judge(deps, key);
  if (fault) throw errors.invalid_payout_account(fault, { nextAction: makeOne });
  try {
    return await paymentsOf(deps).readKey(key);
  } catch (error) {
    if (!(error instanceof PaymentsFault)) throw error;
    if (error.because === 'unanswered') throw providerError(error, 'The check of the key');
    throw notAccepted(error);
  }
}

/** Where payouts are on, there is a provider. */
export function paymentsOf({ config, payments }: Pick<Deps, 'config' | 'payments'>): Payments {
  if (payments) return payments;
  throw missing(config, 'payouts') ?? new Error('payouts are on without a provider');
}

/** What is wrong with the look of it. */
function judge({ config }: Pick<Deps, 'config'>, key: string): string | undefined {
  const { kind, live } = lookAtKey(key);
  if (kind === 'unknown') return 'This is no key that takes payments: it may be cut off, or something else was copied.';
  if (kind === 'public') return 'This is the public key of web pages, which cannot take payments for a site.';
  if (kind === 'unrestricted') {
    return 'This key may do everything on its account. The platform takes a restricted key alone: revoke this one if it was shown to others.';
  }
  const real = config.payouts !== undefined && movesRealMoney(config.payouts);
  if (real && !live) return 'This is a test key, which moves no real money. Bring the live one.';
  if (!real && live) return 'This is a live key, and this platform only tries things out: it takes test keys alone.';
  return undefined;
}

function notAccepted(cause: PaymentsFault): AppError {
  return errors.invalid_payout_account(
    'The key is not accepted: it was revoked, belongs to a closed account, or lacks a permission.',
    { nextAction: makeOne, cause },
  );
}

const makeOne =
  'The owner makes a restricted key in their own dashboard that may read the account and read and write checkout pages, payments and refunds, and sends that.';
