/** The scopes of tokens in the access test, and the response under each. */
import { everything, type Scope, usualScope } from '#rules/scopes.ts';
import type { Rule, Who } from './access-rules.ts';
import { expected } from './access-rules.ts';
import type { Entry } from './access-table.ts';
import { type Need, ofTheAccount, scopeTable } from './scope-table.ts';

export const scopeNames = ['reader', 'another site', 'this site', 'usual', 'everything'] as const;
export type ScopeName = (typeof scopeNames)[number];

/** `another site` has all but the site that the call is about, and may not change any. */
export function scopeOf(name: ScopeName, { site, other }: { site: string; other: string }): Scope {
  const scopes: Record<ScopeName, Scope> = {
    everything,
    usual: usualScope,
    reader: { ...usualScope, access: 'read' },
    'this site': { ...usualScope, sites: [site] },
    'another site': { sites: [other], access: 'read', payouts: true, account: true },
  };
  return scopes[name];
}

const within: Record<Need, readonly ScopeName[]> = {
  any: scopeNames,
  read: scopeNames,
  repository: scopeNames,
  write: ['this site', 'usual', 'everything'],
  all_sites: ['usual', 'everything'],
  payouts: ['another site', 'everything'],
  account: ['another site', 'everything'],
  new_token: ['another site', 'everything'],
  other_token: ['another site', 'everything'],
};

/** Calls whose capability is off here, which everybody with a token is told first. */
const off: (string | undefined)[] = ['billing_disabled', 'invalid_mode'];

export const needOf = (route: string): Need | undefined =>
  (Object.keys(scopeTable) as Need[]).find((need) => scopeTable[need].includes(route));

/** Whether a token of this scope may make the call, on some site. */
export function mayCall(route: string, scope: ScopeName): boolean {
  const need = needOf(route);
  return need === undefined || within[need].includes(scope);
}

/** Where the table speaks of the token that made another one, which these are not. */
const notTheMaker: Record<string, string> = { 'POST /v1/tokens/{id}/rotate': 'token_not_yours' };

/** Refusals that come before `out_of_scope`, as the owner's permission would not change them: of a site that the token may read. */
const preconditions: Record<string, string> = { 'DELETE /v1/sites/{id}': 'site_not_archived' };

/** What a caller with a token of this scope is told; `undefined` where the call is answered. */
export function expectedWith(route: string, entry: Entry, who: Who, scope: ScopeName): string | undefined {
  const usually = expected(entry, who);
  if (usually === 'unauthorized' || off.includes(entry.refusal)) return usually;
  if (!mayCall(route, scope)) return (who === 'owner' ? preconditions[route] : undefined) ?? 'out_of_scope';
  const isOutside = scope === 'another site' || (scope === 'this site' && ofTheAccount.includes(route));
  if (isOutside && reaches(route, entry.rule, who)) return 'out_of_scope';
  return usually ?? notTheMaker[route];
}

/** Whether the caller's account has access to the site that the call is about. */
function reaches(route: string, rule: Rule, who: Who): boolean {
  if (rule === 'members' || rule === 'owner' || rule === 'sides') return who === 'owner' || who === 'collaborator';
  return who === 'owner' && (rule === 'parties' || ofTheAccount.includes(route));
}
