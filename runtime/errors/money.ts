/** Errors of payments, payouts and billing. */
import { type ErrorRow, notOffered } from './row.ts';

export const moneyErrors = {
  // Payments and payouts
  payouts_disabled: {
    status: 501,
    retryable: false,
    when: 'This installation cannot accept payments for site owners',
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
    remedy: 'Use the other payout rail, or tell the owner that this way of receiving payments is not available here.',
  },
  invalid_payout_account: {
    status: 400,
    retryable: false,
    when: 'The request for a payout account is not valid',
    remedy: 'Send either a restricted key or a rail, not both, and correct the value named in the message.',
  },
  no_payout_account: {
    status: 409,
    retryable: false,
    when: 'The site has no payout account',
    remedy: 'Attach a payout account with `POST /v1/sites/{id}/payout-account`, or create a payout offer.',
  },
  payout_account_pending: {
    status: 409,
    retryable: false,
    when: 'The payment provider does not allow the account to accept payments yet',
    remedy: 'The owner needs to complete the items in the account’s `waiting_for`.',
  },
  payout_account_no_currency: {
    status: 409,
    retryable: false,
    when: 'The payout account’s currency is not known yet',
    remedy: 'Wait, then read the payout account again: the payment provider has not reported its currency yet.',
  },
  payout_account_gone: {
    status: 409,
    retryable: false,
    when: 'The payout account that received the money is no longer connected',
    remedy: 'The owner of the payout account needs to refund the payment in the payment provider’s dashboard.',
  },
  payout_key_unreadable: {
    status: 502,
    retryable: false,
    when: 'The platform can no longer decrypt the stored payout key',
    remedy: 'The owner of the payout account needs to send a new key: `POST /v1/account/payout-accounts/{id}/key`.',
  },
  invalid_payment: {
    status: 400,
    retryable: false,
    when: 'The site cannot request this payment',
    remedy:
      'Correct the value named in the message. Send the amount in the minor unit of the payout account’s currency.',
  },
  invalid_payout_offer: {
    status: 400,
    retryable: false,
    when: 'The payout offer is not valid',
    remedy: 'Withdraw the open offer, or correct the value named in the message.',
  },
  offer_expired: {
    status: 409,
    retryable: false,
    when: 'The offer has expired, or was withdrawn or declined',
    remedy: 'Create a new payout offer.',
  },
  offer_already_accepted: {
    status: 409,
    retryable: false,
    when: 'The offer has already been accepted',
    remedy: 'No action needed: the site already uses the payout account.',
  },
  not_yours_to_answer: {
    status: 409,
    retryable: false,
    when: 'The account that created a payout offer cannot accept it',
    remedy: 'Only the other party can accept the offer. Withdraw it if it is no longer wanted.',
  },
  // Billing
  billing_disabled: {
    status: 501,
    retryable: false,
    when: 'Billing is disabled: nothing is metered, and no payment is required',
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
    remedy: 'Choose a plan that is for sale; `GET /v1/billing` lists them.',
  },
  already_subscribed: {
    status: 409,
    retryable: false,
    when: 'The account already has this plan',
    remedy: 'No action needed: the account is already on this plan.',
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
    when: 'The account has a paid subscription, so it cannot be granted a plan',
    remedy: 'The owner first needs to cancel the paid plan in the billing portal.',
  },
} as const satisfies Record<string, ErrorRow>;
