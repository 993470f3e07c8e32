/** What of the operations the scope of a token leaves out. Pure. */
import { wordsFor } from '#api/access.ts';
import { capabilitiesOf } from '#api/capabilities.ts';
import type { Operation } from '#api/operations/operations.ts';
import { needOf } from '#api/scopes/needs.ts';
import { lackingIn, type PartOfScope, type Scope } from '#rules/scopes.ts';
import type { Config } from '#runtime/config.ts';

/** Whether a token of this scope may make the call, at least for itself. */
export const isWithin = (scope: Scope, operation: Operation): boolean => lackingFor(scope, operation) === null;

function lackingFor(scope: Scope, { config: { needs = 'any' } }: Operation): PartOfScope | null {
  const { wanted, isFree } = needOf(needs);
  return isFree ? null : lackingIn(scope, wanted);
}

/** What the token lacks for operations that are therefore not found, and how it gets it; null if all are found. */
export function unlistedFor(operations: readonly Operation[], scope: Scope, config: Config): string | null {
  const lacking: PartOfScope = Object.assign({}, ...operations.map((one) => lackingFor(scope, one) ?? {}));
  const words = wordsFor(lacking);
  if (words.length === 0) return null;
  const answer = capabilitiesOf(config).email_signin
    ? 'has a link on which the owner allows it'
    : 'says what to do instead';
  return `Not listed are operations that need what this token does not have: ${words.join(', ')}. Call one by its name in the skill: the answer ${answer}.`;
}
