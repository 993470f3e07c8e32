/** Requirements that an account at the payment provider still lacks, in words for its owner. Pure. */

/** Patterns of the provider's requirement names, the more specific first. */
const words: (readonly [RegExp, string])[] = [
  [/external_account/, 'a bank account for payouts'],
  [/tos_acceptance/, 'acceptance of the terms of service'],
  [/document|verification/, 'an identity document for the owner'],
  [/^business_profile/, 'a description of the business and its website'],
  [/^(company|business_type)/, 'details about the business'],
  [/^(individual|person|representative|owners|directors)/, 'details about the account’s representative'],
];

/** Each requirement once. An account with nothing due that may not take payments waits for the provider's review. */
export function waitingFor(due: readonly string[], chargesEnabled: boolean): string[] {
  const named = due.map((name) => words.find(([pattern]) => pattern.test(name))?.[1] ?? 'further details');
  if (named.length === 0 && !chargesEnabled) return ['the provider’s review of the submitted details'];
  return [...new Set(named)];
}
