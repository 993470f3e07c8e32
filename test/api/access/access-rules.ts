/** The callers of a site, and the response that each gets under each rule. */

export type Who =
  | 'no token'
  | 'wrong token'
  | 'stranger'
  | 'invitee'
  | 'payout owner'
  | 'former'
  | 'collaborator'
  | 'owner';

/**
 * `all`: no token is needed. `tokens`: any account, which sees its own. `members`: the owner and the collaborators of the site. `owner`: the
 * site's owner alone. `collaborator`: its collaborators alone. `invitee`: the account that is addressed. `parties`: the owner of the site and that of
 * the payout account; `sides`: the same of an agreement, where a collaborator is told so. `holder`: the account whose thing it is, be it on the same site or not.
 */
export type Rule = 'all' | 'parties' | 'sides' | 'tokens' | 'members' | 'owner' | 'collaborator' | 'invitee' | 'holder';

const outside: readonly Who[] = ['stranger', 'invitee', 'payout owner', 'former'];

/** What this caller is told: nothing where the call is answered. */
export function expected({ rule, refusal }: { rule: Rule; refusal?: string }, who: Who): string | undefined {
  const anonymous = who === 'no token' || who === 'wrong token';
  if (anonymous && rule !== 'all') return 'unauthorized';
  if ((rule === 'members' || rule === 'owner') && outside.includes(who)) return 'not_found';
  if (rule === 'parties' || rule === 'sides') return ofTwoSides(rule, refusal, who);
  if (rule === 'owner' && who === 'collaborator') return 'owner_only';
  if (rule === 'collaborator') return ofTheMembership(refusal, who);
  if (rule === 'holder' && who !== 'owner') return 'not_found';
  if (rule === 'invitee' && who !== 'invitee') return 'not_found';
  return refusal;
}

/** The refusal is what the site's owner is told, who has none. */
function ofTheMembership(refusal: string | undefined, who: Who): string | undefined {
  if (who === 'collaborator') return undefined;
  return who === 'owner' ? refusal : 'not_found';
}

/** The refusal is what the site's owner is told, who asks last. */
function ofTwoSides(rule: 'parties' | 'sides', refusal: string | undefined, who: Who): string | undefined {
  if (who === 'payout owner') return undefined;
  if (who === 'owner') return refusal;
  return who === 'collaborator' && rule === 'sides' ? 'owner_only' : 'not_found';
}
