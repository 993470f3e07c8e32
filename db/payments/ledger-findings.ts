/** The findings of the ledger check as stored in flags, and the operator's remedy for each. Pure. */

export const found = {
  noCharge: 'is paid, and no charge is kept for it',
  noSeat: 'is paid, and its booking has no seat: the money is owed to the visitor',
  notPaid: 'has a seat that costs money, and nobody has paid',
  noRefund: 'is to go back, and no charge of it is on its way',
  waits: 'waits to go back',
  unasked: 'may have been paid, and the provider cannot be asked',
  foreign: 'was charged for a payment that is not here',
  another: 'was charged on a page on which another charge was made',
  notGivenBack: 'was given back here, and not at the provider',
} as const;

type Explained = { means: string; do: string };

const explanations: Record<(typeof found)[keyof typeof found], Explained> = {
  [found.noCharge]: {
    means:
      'The row of the payment says paid, and none of its pages has a charge that is kept. Our own rows contradict each other.',
    do: 'Look for its charge at the provider (its metadata names the payment). If there is one, a later check finds it; if there is none, this is a fault of ours.',
  },
  [found.noSeat]: {
    means:
      'A visitor has paid for a booking that does not stand, and the refund was given up or could not be begun, as where the payout account is gone.',
    do: 'Ask the owner of the payout account to refund it in their own dashboard. Where the account is connected here, the check sees that; else settle the flag.',
  },
  [found.notPaid]: {
    means: 'A booking is confirmed whose payment is not paid. Our own rows contradict each other.',
    do: 'Look whether it was paid at the provider; if not, cancel the booking with POST /v1/bookings/{id}/cancel.',
  },
  [found.noRefund]: {
    means:
      'A payment counts as refunded or on its way back, and none of its charges is. Our own rows contradict each other.',
    do: 'Look at its charges at the provider, and refund what was not.',
  },
  [found.waits]: {
    means:
      'The provider does not do a refund: for want of money on the account, because it has it in hand, or because the key is not accepted any more. It is asked again for days.',
    do: 'Tell the owner of the payout account: to fill it, to bring a new key, or to refund it in their own dashboard. The check sees each of these.',
  },
  [found.unasked]: {
    means:
      'A page could still be paid on when the provider fell silent, or when its account was removed, so nobody knows how it ended.',
    do: 'Where the account is still used here: nothing, it is asked about every hour. Where it is gone: have its owner look in their own dashboard, then settle the flag.',
  },
  [found.foreign]: {
    means:
      'A charge at the provider names a page of ours that this database does not have, as after a copy was put back.',
    do: 'Ask the owner of the account whether it is owed to somebody; refund it in the dashboard, then settle the flag.',
  },
  [found.another]: {
    means: 'One page has two charges, which the provider should not allow.',
    do: 'Refund the charge that the flag names in the dashboard, then settle the flag.',
  },
  [found.notGivenBack]: {
    means: 'The provider said that a refund was done, and it was taken back since, as when a card is closed.',
    do: 'Tell the owner of the account, who owes it to the payer by another way; then settle the flag.',
  },
};

/** The meaning of a flag, and its remedy. */
export function explained(why: string): Explained {
  const known = Object.entries(explanations).find(([words]) => why === words || why.startsWith(`${words}: `));
  return known?.[1] ?? { means: why, do: 'Look at the payment and at its account at the provider.' };
}
