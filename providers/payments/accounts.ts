/** What an account at the provider of payments still lacks, in words for its owner. Pure. */

/** Beginnings of the provider's names, the more telling first. */
const words: (readonly [RegExp, string])[] = [
  [/external_account/, 'a bank account for payouts'],
  [/tos_acceptance/, 'agreement to the terms of service'],
  [/document|verification/, 'an identity document of the owner'],
  [/^business_profile/, 'a description of the business, and its website'],
  [/^(company|business_type)/, 'details of the business'],
  [/^(individual|person|representative|owners|directors)/, 'details of the person behind the account'],
];

/** Each thing once. An account that may not take money and for which nothing is due waits for the provider to look at it. */
export function waitingFor(due: readonly string[], chargesEnabled: boolean): string[] {
  const named = due.map((name) => words.find(([pattern]) => pattern.test(name))?.[1] ?? 'further details');
  if (named.length === 0 && !chargesEnabled) return ['the review of the submitted details'];
  return [...new Set(named)];
}
