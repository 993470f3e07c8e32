/** Validation of owners' provider keys before they are encrypted. No message contains any part of a key. */

import { missing } from '#api/capabilities.ts';
import { classifyKey, movesRealMoney } from '#providers/payments/keys.ts';
import { type AccountState, type Payments, PaymentsFault, providerError } from '#providers/payments.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';

/** What the provider reports about the key's account. Throws `invalid_payout_account`, `provider_error`. */
export async function checkKey(deps: Pick<Deps, 'config' | 'payments'>, key: string): Promise<AccountState> {
  const fault = validateKey(deps, key);
  if (fault) throw errors.invalid_payout_account(fault, { nextAction: createKeyHint });
  try {
    return await paymentsOf(deps).readKey(key);
  } catch (error) {
    if (!(error instanceof PaymentsFault)) throw error;
    if (error.reason === 'unanswered') throw providerError(error);
    throw keyRejected(error);
  }
}

/** Where payouts are enabled, a provider is configured. */
export function paymentsOf({ config, payments }: Pick<Deps, 'config' | 'payments'>): Payments {
  if (payments) return payments;
  throw missing(config, 'payouts') ?? new Error('payouts are enabled but no payment provider is configured');
}

/** What is wrong with the format of the key. */
function validateKey({ config }: Pick<Deps, 'config'>, key: string): string | undefined {
  const { kind, live } = classifyKey(key);
  if (kind === 'unknown')
    return 'This is not a key from the payment provider. It may be incomplete, or a different value may have been copied.';
  if (kind === 'public') return 'This is a publishable key, which cannot be used to accept payments for a site.';
  if (kind === 'unrestricted') {
    return 'This key has full access to its account. The platform accepts only restricted keys. Revoke this key if others have seen it.';
  }
  const real = config.payouts !== undefined && movesRealMoney(config.payouts);
  if (real && !live) return 'This is a test key, which does not move real money. Send the live key.';
  if (!real && live) return 'This is a live key, but this platform is a test system and accepts only test keys.';
  return undefined;
}

function keyRejected(cause: PaymentsFault): AppError {
  return errors.invalid_payout_account(
    'The payment provider rejected the key. It may have been revoked, belong to a closed account, or lack a permission.',
    { nextAction: createKeyHint, cause },
  );
}

const createKeyHint =
  'The owner needs to create a restricted key in their payment provider’s dashboard, with read access to the account, and read and write access to checkout sessions, payments and refunds. Then send that key.';
