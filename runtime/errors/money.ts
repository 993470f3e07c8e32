/** Errors of payments, payouts and billing. */
import { call } from '#rules/calls/calls.ts';
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
    remedy: 'Tell the owner that payments are unavailable until the operator configures an encryption key.',
  },
  payout_rail_unavailable: {
    status: 501,
    retryable: false,
    when: 'This payout rail is not available',
    remedy: 'Use a different payout rail, or tell the owner that this one is not available here.',
  },
  invalid_payout_account: {
    status: 400,
    retryable: false,
    when: 'The request for a payout account is not valid',
    remedy: 'Correct the value named in the message. Send either a restricted key or a rail, not both.',
  },
  no_payout_account: {
    status: 409,
    retryable: false,
    when: 'The site has no payout account',
    remedy: `Attach a payout account with ${call('payout_agreement.attach')}, or create a payout offer.`,
  },
  payout_account_pending: {
    status: 409,
    retryable: false,
    when: 'The payment provider does not allow the account to accept payments yet',
    remedy: 'The owner needs to provide what the account’s `waiting_for` field lists.',
  },
  payout_account_no_currency: {
    status: 409,
    retryable: false,
    when: 'The payment provider has not reported the payout account’s currency yet',
    remedy: 'Wait a minute, then read the payout account again.',
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
    remedy: `The owner of the payout account needs to send a new key: ${call('payout.replace_key')}.`,
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
    remedy: 'Only the other party can accept the offer. If it is no longer needed, withdraw it.',
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
    when: 'There is no plan with this name',
    remedy: `Send the name of a plan from ${call('billing.read')}.`,
  },
  plan_unavailable: {
    status: 501,
    retryable: false,
    when: 'The plan cannot be bought here',
    remedy: `Choose one of the plans for sale, which ${call('billing.read')} lists.`,
  },
  already_subscribed: {
    status: 409,
    retryable: false,
    when: 'The account is already on this plan',
    remedy: 'No action needed.',
  },
  no_billing_history: {
    status: 409,
    retryable: false,
    when: 'The account has never paid, so it has no billing portal',
    remedy: `Buy a plan first: ${call('billing.checkout')}.`,
  },
  paid_subscription_active: {
    status: 409,
    retryable: false,
    when: 'A plan cannot be granted because the account has a paid subscription',
    remedy: 'Ask the owner to cancel the paid plan in the billing portal first.',
  },
} as const satisfies Record<string, ErrorRow>;
