/** The payout account of a site, and its credentials. */

import type { Loaded } from '@mikro-orm/core';
import { contextOf } from '#db/encrypted-columns.ts';
import type { EntityManager } from '#db/orm.ts';
import type { PaymentCredentials } from '#providers/payments.ts';
import { call } from '#rules/calls/calls.ts';
import type { Config } from '#runtime/config.ts';
import { DecryptionFault, decrypt, encrypt } from '#runtime/encryption.ts';
import { errors } from '#runtime/errors.ts';
import { type PayoutAccount, PayoutAccount as PayoutAccounts } from './payout-account.ts';
import { PayoutAgreement } from './payout-agreement.ts';

/** The active agreement of the site, with its payout account; null for a site without one. */
export async function agreementOf(
  em: EntityManager,
  site: { id: string },
): Promise<Loaded<PayoutAgreement, 'payoutAccount'> | null> {
  return await em.findOne(PayoutAgreement, { site: site.id, endedAt: null }, { populate: ['payoutAccount'] });
}

/** Locks the site's agreement for share, so that code that ends it sees every payment created under it. */
export async function lockAgreement(tx: EntityManager, site: { id: string }): Promise<void> {
  await tx.execute('select 1 from payout_agreement where site_id = ? and ended_at is null for share', [site.id]);
}

/** Locks the payout account. Inserting rows that only refer to it, such as payments, does not wait. */
export async function lockPayoutAccount(tx: EntityManager, id: string): Promise<PayoutAccount> {
  await tx.execute('select 1 from payout_account where id = ? for no key update', [id]);
  return await tx.findOneOrFail(PayoutAccounts, { id }, { refresh: true });
}

/** Encrypts a key so that it can be decrypted only for this payout account. */
export function encryptKey(
  { encryptionKeys }: Pick<Config, 'encryptionKeys'>,
  payoutAccountId: string,
  key: string,
): Buffer {
  return encrypt(encryptionKeys, key, contextOf.payoutAccount(payoutAccountId));
}

/**
 * The credentials for the provider. Throws `payout_account_gone`, `payout_key_unreadable`, and
 * `payout_account_pending` where the provider has no account yet.
 */
export function credentialsOf(
  { config }: { config: Pick<Config, 'encryptionKeys'> },
  account: Pick<PayoutAccount, 'id' | 'rail' | 'name' | 'status' | 'sealedKey' | 'providerAccount'>,
): PaymentCredentials {
  if (account.status === 'gone') throw errors.payout_account_gone(`The payout account “${account.name}” was removed.`);
  if (account.rail === 'own_key' && account.sealedKey) {
    return { rail: 'own_key', key: decryptKey(config, account.id, account.sealedKey) };
  }
  if (account.providerAccount) return { rail: 'connect', providerAccount: account.providerAccount };
  throw errors.payout_account_pending(`The payout account “${account.name}” is not connected yet.`, {
    nextAction: `Call ${call('payout.onboard', { id: account.id })} and give the link to its owner.`,
  });
}

function decryptKey({ encryptionKeys }: Pick<Config, 'encryptionKeys'>, id: string, encrypted: Uint8Array): string {
  try {
    return decrypt(encryptionKeys, encrypted, contextOf.payoutAccount(id)).toString('utf8');
  } catch (error) {
    if (!(error instanceof DecryptionFault)) throw error;
    throw errors.payout_key_unreadable('The platform can no longer decrypt this payout account’s key.', {
      nextAction: `The owner of the payout account needs to send a new key with ${call('payout.replace_key', { id })}.`,
      cause: error,
    });
  }
}
