/** The access rules of payout calls. */
import type { Entry } from './access-table.ts';

export const payoutCalls: Record<string, Entry> = {
  'POST /v1/account/payout-accounts': { rule: 'tokens', body: { rail: 'connect' } },
  'GET /v1/account/payout-accounts': { rule: 'tokens' },
  'PATCH /v1/account/payout-accounts/{id}': {
    rule: 'holder',
    body: { name: 'Other' },
    path: (fixture) => fixture.payoutAccount(),
  },
  'DELETE /v1/account/payout-accounts/{id}': { rule: 'holder', path: (fixture) => fixture.payoutAccount() },
  'POST /v1/account/payout-accounts/{id}/key': {
    rule: 'holder',
    body: { secret_key: 'x' },
    path: (fixture) => fixture.payoutAccount(),
    refusal: 'invalid_payout_account',
  },
  'POST /v1/account/payout-accounts/{id}/onboarding': { rule: 'holder', path: (fixture) => fixture.payoutAccount() },
  'GET /v1/account/payout-accounts/{id}/sites': { rule: 'holder', path: (fixture) => fixture.payoutAccount() },
  'POST /v1/account/payout-accounts/{id}/offers': {
    rule: 'holder',
    body: { hostname: 'nobody.example.com' },
    path: (fixture) => fixture.payoutAccount(),
    refusal: 'invalid_payout_offer',
  },
  'GET /v1/payout-offers': { rule: 'tokens' },
  'GET /v1/payout-offers/{id}': { rule: 'parties', path: (fixture) => fixture.payoutOffer() },
  // Declined by the payout owner, whose turn comes first; taken back by the owner after that, which changes nothing.
  'DELETE /v1/payout-offers/{id}': { rule: 'parties', path: (fixture) => fixture.payoutOffer() },
  'POST /v1/payout-offers/{id}/accept': {
    rule: 'parties',
    path: (fixture) => fixture.payoutOffer(),
    refusal: 'offer_already_accepted',
  },
  'POST /v1/sites/{id}/payout-offers': {
    rule: 'owner',
    body: { payout_account_id: 'x' },
    refusal: 'invalid_payout_account',
  },
  'GET /v1/sites/{id}/payout-account': { rule: 'owner', refusal: 'no_payout_account' },
  'POST /v1/sites/{id}/payout-account': {
    rule: 'owner',
    body: { payout_account_id: 'x' },
    refusal: 'invalid_payout_account',
  },
  // The payout owner is not on the site, and ends the agreement before its owner comes to it.
  'DELETE /v1/sites/{id}/payout-account': {
    rule: 'sides',
    path: (fixture) => fixture.payingSite(),
    refusal: 'no_payout_account',
  },
};
