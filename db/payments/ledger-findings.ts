/** The findings of the ledger check as stored in flags, and the operator's remedy for each. Pure. */

export const findings = {
  noCharge: 'is paid, but no charge is recorded for it',
  noSeat: 'is paid, but its booking has no seat, so the visitor is owed a refund',
  notPaid: 'has a paid seat but has not been paid',
  noRefund: 'is marked as refunded, but none of its charges is being refunded',
  sums: 'has refunds that do not add up to its refunded amount',
  waits: 'has a refund that the provider has not completed',
  unasked: 'may have been paid, but the provider cannot be queried',
  foreign: 'was charged for a payment that does not exist here',
  another: 'was charged on a checkout page that already had a charge',
  notGivenBack: 'is marked as refunded here, but was not refunded by the provider',
} as const;

type Explained = { means: string; do: string };

const explanations: Record<(typeof findings)[keyof typeof findings], Explained> = {
  [findings.noCharge]: {
    means:
      'The payment is marked as paid, but none of its checkout pages has a recorded charge. The database is inconsistent.',
    do: 'Look for the charge in the provider’s dashboard: its metadata contains the payment’s id. If the charge exists, a later check will find it. Otherwise, report a bug.',
  },
  [findings.noSeat]: {
    means:
      'A visitor has paid for a booking that is not confirmed, and the refund failed permanently or could not be started, for example because the payout account was removed.',
    do: 'Ask the owner of the payout account to refund the visitor in their provider dashboard. If the account is still connected here, the check will detect the refund; otherwise, mark this problem as settled.',
  },
  [findings.notPaid]: {
    means: 'A booking is confirmed although it has not been paid. The database is inconsistent.',
    do: `Check in the provider’s dashboard whether the booking was paid. If not, ask its owner to cancel it.`,
  },
  [findings.noRefund]: {
    means:
      'A payment is marked as refunded or being refunded, but none of its charges is marked accordingly. The database is inconsistent.',
    do: 'Check the payment’s charges in the provider’s dashboard, and refund any that have not been refunded.',
  },
  [findings.sums]: {
    means:
      'The parts of a payment that are recorded as refunded differ from the refunded amount. The database is inconsistent.',
    do: 'Compare the payment with its charge in the provider’s dashboard, and report a bug.',
  },
  [findings.waits]: {
    means:
      'The provider has not completed a refund: the account’s balance is too low, the refund is still pending, or the key is no longer accepted. The refund is retried for days.',
    do: 'Ask the owner of the payout account to add funds, to enter a new key, or to make the refund in their provider dashboard. The check will detect any of these.',
  },
  [findings.unasked]: {
    means:
      'A checkout page was still open when the provider stopped responding, or when the payout account was removed. It is unknown whether it was paid.',
    do: 'If the account is still connected here, do nothing: the provider is queried every hour. If it was removed, ask its owner to check their provider dashboard, then mark this problem as settled.',
  },
  [findings.foreign]: {
    means:
      'A charge in the provider’s records refers to a checkout page that is not in this database, for example because a backup was restored.',
    do: 'Ask the owner of the payout account whether the visitor is owed a refund. If so, they can make it in their provider dashboard. Then mark this problem as settled.',
  },
  [findings.another]: {
    means: 'The visitor was charged twice on one checkout page, which the provider should not allow.',
    do: 'Ask the owner of the payout account to refund the named charge in their provider dashboard. Then mark this problem as settled.',
  },
  [findings.notGivenBack]: {
    means:
      'The provider reported a refund as completed but later reversed it, for example because the card account was closed.',
    do: 'Tell the owner of the payout account that they need to refund the visitor in another way. Then mark this problem as settled.',
  },
};

/** The meaning of a flag, and its remedy. */
export function explained(why: string): Explained {
  const known = Object.entries(explanations).find(([words]) => why === words || why.startsWith(`${words}: `));
  return known?.[1] ?? { means: why, do: 'Check the payment and its payout account in the provider’s dashboard.' };
}
