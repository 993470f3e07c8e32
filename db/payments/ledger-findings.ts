/** The findings of the ledger check as stored in flags, and the operator's remedy for each. Pure. */

export const found = {
  noCharge: 'is paid, but no charge is recorded for it',
  noSeat: 'is paid, but its booking has no seat: the visitor is owed a refund',
  notPaid: 'has a seat that costs money, but is not paid',
  noRefund: 'counts as refunded, but none of its charges is being refunded',
  waits: 'has a refund that the provider has not made',
  unasked: 'may have been paid, but the provider cannot be queried',
  foreign: 'was charged for a payment that does not exist here',
  another: 'was charged on a checkout page that already had a charge',
  notGivenBack: 'is refunded here, but not at the provider',
} as const;

type Explained = { means: string; do: string };

const explanations: Record<(typeof found)[keyof typeof found], Explained> = {
  [found.noCharge]: {
    means:
      'The row of the payment says paid, but no checkout page of it has a recorded charge. Our rows contradict each other.',
    do: 'Look for its charge at the provider: the metadata names the payment. If there is one, a later check finds it. If there is none, report a bug.',
  },
  [found.noSeat]: {
    means:
      'A visitor has paid for a booking that is not confirmed, and the refund failed for good or could not start, for example because the payout account was removed.',
    do: 'Ask the owner of the payout account to refund it in their own dashboard. If the account is connected here, the check notices the refund; otherwise settle the flag.',
  },
  [found.notPaid]: {
    means: 'A booking is confirmed although its payment is not paid. Our rows contradict each other.',
    do: 'Check whether it was paid at the provider. If not, cancel the booking with POST /v1/bookings/{id}/cancel.',
  },
  [found.noRefund]: {
    means:
      'A payment counts as refunded or as being refunded, but none of its charges is. Our rows contradict each other.',
    do: 'Look at its charges at the provider, and refund those that were not refunded.',
  },
  [found.waits]: {
    means:
      'The provider has not made a refund: the account has too little money, the refund is still pending, or the key is no longer accepted. It is retried for days.',
    do: 'Ask the owner of the payout account to add money, to enter a new key, or to make the refund in their own dashboard. The check notices each of these.',
  },
  [found.unasked]: {
    means:
      'A checkout page was still open when the provider stopped answering, or when its account was removed. Whether it was paid is unknown.',
    do: 'If the account is still connected here, do nothing: the provider is queried every hour. If it was removed, ask its owner to look in their own dashboard, then settle the flag.',
  },
  [found.foreign]: {
    means:
      'A charge at the provider names a checkout page that is not in this database, for example after a backup was restored.',
    do: 'Ask the owner of the account whether a refund is owed, make it in the dashboard, then settle the flag.',
  },
  [found.another]: {
    means: 'One checkout page has two charges, which the provider should not allow.',
    do: 'Refund the charge that the flag names in the dashboard, then settle the flag.',
  },
  [found.notGivenBack]: {
    means: 'The provider reported a refund as done, but later reversed it, for example because the card was closed.',
    do: 'Tell the owner of the account that they must pay the payer another way, then settle the flag.',
  },
};

/** The meaning of a flag, and its remedy. */
export function explained(why: string): Explained {
  const known = Object.entries(explanations).find(([words]) => why === words || why.startsWith(`${words}: `));
  return known?.[1] ?? { means: why, do: 'Look at the payment and at its account at the provider.' };
}
