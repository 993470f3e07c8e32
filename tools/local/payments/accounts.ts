/**
 * Payout accounts and their onboarding pages. A key's text selects the behaviour of its account: one that contains
 * `revoked` is rejected, `pending` cannot accept payments yet, `nocurrency` has no currency. Text after a third `_`
 * makes another key of the same account.
 */
import { createHash } from 'node:crypto';
import {
  type Call,
  find,
  keep,
  newName,
  type PaymentsStub,
  Refusal,
  type Route,
  type StoredObject,
  seconds,
} from './state.ts';

export const accountRoutes: Route[] = [
  { method: 'GET', path: /^\/v1\/account$/, run: (stub, { account }) => connectedAccount(stub, account) },
  { method: 'POST', path: /^\/v1\/accounts$/, run: create },
  {
    method: 'GET',
    path: /^\/v1\/accounts\/(\w+)$/,
    run: (stub, { found }) => connectedAccount(stub, found[0] ?? ''),
  },
  { method: 'POST', path: /^\/v1\/account_links$/, run: link },
];

const due = ['external_account', 'tos_acceptance.date', 'individual.verification.document', 'business_profile.url'];

/** The account of a key. Throws `Refusal` for a rejected key. */
export function accountOfKey(stub: PaymentsStub, key: string): string {
  if (!/^[rs]k_(test|live)_\w{8,}$/.test(key) || key.includes('revoked')) {
    throw new Refusal(401, '', 'Invalid API Key provided.');
  }
  const whose = key.split('_').slice(2, 3).join();
  const id = `acct_${createHash('sha256').update(whose).digest('hex').slice(0, 16)}`;
  if (!stub.objects.has(id)) {
    const enabled = !key.includes('pending');
    keep(stub, account(stub, id, enabled, key.includes('nocurrency') ? null : 'eur'));
  }
  return id;
}

/** The connected account that a platform request names. Throws `Refusal` for an unknown one. */
export function connectedAccount(stub: PaymentsStub, id: string): StoredObject {
  const kept = stub.objects.get(id);
  if (kept?.object === 'account' && kept.connected !== false) return kept;
  throw new Refusal(403, 'account_invalid', 'The provided key does not have access to the account.');
}

function account(stub: PaymentsStub, id: string, enabled: boolean, currency: string | null): StoredObject {
  return {
    id,
    object: 'account',
    account: id,
    charges_enabled: enabled,
    payouts_enabled: enabled,
    details_submitted: enabled,
    default_currency: currency,
    requirements: { currently_due: enabled ? [] : due, eventually_due: [], past_due: [], disabled_reason: null },
    created: seconds(stub),
  };
}

function create(stub: PaymentsStub): StoredObject {
  return keep(stub, { ...account(stub, newName('acct'), false, null), byPlatform: true });
}

function link(stub: PaymentsStub, { input }: Call): StoredObject {
  const about = connectedAccount(stub, String(input.account));
  const id = newName('al');
  const { return_url, refresh_url } = input;
  const rest = { about: about.id, used: false, return_url, refresh_url, created: seconds(stub) };
  const expires_at = seconds(stub) + 300;
  return keep(stub, {
    id,
    object: 'account_link',
    account: id,
    url: `${stub.url}/onboarding/${id}`,
    expires_at,
    ...rest,
  });
}

/** Uses the page once. Null if it was used before or has expired. */
export function useLink(stub: PaymentsStub, id: string): StoredObject | null {
  const kept = stub.objects.get(id);
  if (kept?.object !== 'account_link' || kept.used || Number(kept.expires_at) <= seconds(stub)) return null;
  return kept;
}

/** The owner has completed the onboarding. */
export function completeAccount(stub: PaymentsStub, id: string): void {
  const kept = find(stub, 'account', id, id);
  const enabled = stub.knobs.enableAccounts;
  Object.assign(kept, account(stub, id, enabled, 'eur'), { details_submitted: true });
  if (!enabled) Object.assign(kept.requirements as object, { currently_due: [] });
  stub.sendEvent('account.updated', kept);
}
