/** Errors of payments, payouts and billing. */
import { type ErrorRow, notOffered } from './row.ts';

export const moneyErrors = {
  // Payments and payouts
  payouts_disabled: {
    status: 501,
    retryable: false,
    when: 'This deployment cannot accept payments for a site owner',
    remedy: notOffered,
  },
  payouts_unavailable: {
    status: 503,
    retryable: false,
    when: 'The operator has not configured an encryption key',
    remedy: 'Tell the owner: payments are unavailable until the operator configures an encryption key.',
  },
  payout_rail_unavailable: {
    status: 501,
    retryable: false,
    when: 'This way of receiving payments is not offered',
    remedy: 'Use the other rail, or tell the owner that payments are not possible this way here.',
  },
  invalid_payout_account: {
    status: 400,
    retryable: false,
    when: 'The request for a payout account is not valid',
    remedy: 'Send a restricted key or a rail, not both. Correct what the message names.',
  },
  no_payout_account: {
    status: 409,
    retryable: false,
    when: 'The site has no payout account',
    remedy: 'Attach one with `POST /v1/sites/{id}/payout-account`, or create a payout offer.',
  },
  payout_account_pending: {
    status: 409,
    retryable: false,
    when: 'The provider does not let the account accept payments yet',
    remedy: 'The owner completes the items in `waiting_for` of the account.',
  },
  payout_account_no_currency: {
    status: 409,
    retryable: false,
    when: 'The currency of the account is not known yet',
    remedy: 'Wait, then read the payout account again: its provider has not reported its currency yet.',
  },
  payout_account_gone: {
    status: 409,
    retryable: false,
    when: 'The payout account that received the money is no longer connected',
    remedy: 'The owner of the account refunds the payment in their provider’s own dashboard.',
  },
  payout_key_unreadable: {
    status: 502,
    retryable: false,
    when: 'The platform can no longer decrypt the stored key',
    remedy: 'The owner of the account sends a new key: `POST /v1/account/payout-accounts/{id}/key`.',
  },
  invalid_payment: {
    status: 400,
    retryable: false,
    when: 'The site cannot request this payment',
    remedy: 'Correct what the message names: the amount in the minor unit, in the currency of the account.',
  },
  invalid_payout_offer: {
    status: 400,
    retryable: false,
    when: 'The payout offer is not valid',
    remedy: 'Withdraw the open offer, or correct what the message names.',
  },
  offer_expired: {
    status: 409,
    retryable: false,
    when: 'The offer expired, or was withdrawn or declined',
    remedy: 'Create a new offer.',
  },
  offer_already_accepted: {
    status: 409,
    retryable: false,
    when: 'The offer was already accepted',
    remedy: 'No action needed: the site uses the payout account.',
  },
  not_yours_to_answer: {
    status: 409,
    retryable: false,
    when: 'The account that created an offer cannot accept it',
    remedy: 'The other party answers it. Withdraw the offer if it is not wanted.',
  },
  // Billing
  billing_disabled: {
    status: 501,
    retryable: false,
    when: 'Nothing is metered, and no payment is required',
    remedy: 'No action needed: everything is free here.',
  },
  invalid_plan: {
    status: 400,
    retryable: false,
    when: 'No plan has this name',
    remedy: 'Send a plan from `GET /v1/billing`.',
  },
  plan_unavailable: {
    status: 501,
    retryable: false,
    when: 'The plan cannot be bought here',
    remedy: 'Choose a plan that is sold: `GET /v1/billing`.',
  },
  already_subscribed: {
    status: 409,
    retryable: false,
    when: 'The account already has this plan',
    remedy: 'No action needed: the account has that plan.',
  },
  no_billing_history: {
    status: 409,
    retryable: false,
    when: 'The account has never paid, so it has no billing portal',
    remedy: 'Buy a plan first: `POST /v1/billing/checkout`.',
  },
  paid_subscription_active: {
    status: 409,
    retryable: false,
    when: 'Cancel the paid subscription before granting a plan',
    remedy: 'The owner first cancels the paid plan in the billing portal.',
  },
} as const satisfies Record<string, ErrorRow>;
