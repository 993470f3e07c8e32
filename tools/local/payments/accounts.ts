/**
 * Payout accounts and their onboarding pages. A key's text selects the behaviour of its account: one that contains `revoked` is rejected,
 * `pending` cannot accept payments yet, `nocurrency` has no currency. Text after a third `_` makes another key of the same account.
 */
import { createHash } from 'node:crypto';
import { type Call, find, type Kept, keep, newName, Refusal, type Route, type StandIn, seconds } from './state.ts';

export const accountRoutes: Route[] = [
  { method: 'GET', path: /^\/v1\/account$/, run: (standIn, { account }) => accountNamed(standIn, account) },
  { method: 'POST', path: /^\/v1\/accounts$/, run: create },
  {
    method: 'GET',
    path: /^\/v1\/accounts\/(\w+)$/,
    run: (standIn, { found }) => accountNamed(standIn, found[0] ?? ''),
  },
  { method: 'POST', path: /^\/v1\/account_links$/, run: link },
];

const due = ['external_account', 'tos_acceptance.date', 'individual.verification.document', 'business_profile.url'];

/** The account of a key. Throws `Refusal` for a rejected key. */
export function accountOfKey(standIn: StandIn, key: string): string {
  if (!/^[rs]k_(test|live)_\w{8,}$/.test(key) || key.includes('revoked')) {
    throw new Refusal(401, '', 'Invalid API Key provided.');
  }
  const whose = key.split('_').slice(2, 3).join();
  const id = `acct_${createHash('sha256').update(whose).digest('hex').slice(0, 16)}`;
  if (!standIn.objects.has(id)) {
    const enabled = !key.includes('pending');
    keep(standIn, account(standIn, id, enabled, key.includes('nocurrency') ? null : 'eur'));
  }
  return id;
}

/** The connected account that a platform request names. Throws `Refusal` for an unknown one. */
export function accountNamed(standIn: StandIn, id: string): Kept {
  const kept = standIn.objects.get(id);
  if (kept?.object === 'account' && kept.connected !== false) return kept;
  throw new Refusal(403, 'account_invalid', 'The provided key does not have access to the account.');
}

function account(standIn: StandIn, id: string, enabled: boolean, currency: string | null): Kept {
  return {
    id,
    object: 'account',
    account: id,
    charges_enabled: enabled,
    payouts_enabled: enabled,
    details_submitted: enabled,
    default_currency: currency,
    requirements: { currently_due: enabled ? [] : due, eventually_due: [], past_due: [], disabled_reason: null },
    created: seconds(standIn),
  };
}

function create(standIn: StandIn): Kept {
  return keep(standIn, { ...account(standIn, newName('acct'), false, null), byPlatform: true });
}

function link(standIn: StandIn, { input }: Call): Kept {
  const about = accountNamed(standIn, String(input.account));
  const id = newName('al');
  const { return_url, refresh_url } = input;
  const rest = { about: about.id, used: false, return_url, refresh_url, created: seconds(standIn) };
  const expires_at = seconds(standIn) + 300;
  return keep(standIn, {
    id,
    object: 'account_link',
    account: id,
    url: `${standIn.url}/onboarding/${id}`,
    expires_at,
    ...rest,
  });
}

/** Uses the page once. Null if it was used before or has expired. */
export function useLink(standIn: StandIn, id: string): Kept | null {
  const kept = standIn.objects.get(id);
  if (kept?.object !== 'account_link' || kept.used || Number(kept.expires_at) <= seconds(standIn)) return null;
  return kept;
}

/** The owner has completed the onboarding. */
export function completeAccount(standIn: StandIn, id: string): void {
  const kept = find(standIn, 'account', id, id);
  const enabled = standIn.knobs.enableAccounts;
  Object.assign(kept, account(standIn, id, enabled, 'eur'), { details_submitted: true });
  if (!enabled) Object.assign(kept.requirements as object, { currently_due: [] });
  standIn.tell('account.updated', kept);
}
