/** What a token may do: on which sites, and with which powers of its account. */

export type Scope = {
  sites: 'all' | string[];
  access: 'read' | 'write';
  /** May decide where money goes. */
  payouts: boolean;
  /** May change the account itself. */
  account: boolean;
};
/** A part of a scope that a call needs, or that a token lacks. `false` and `read` need nothing. */
export type PartOfScope = Partial<Scope>;

/** Whatever the account may do. */
export const everything: Scope = { sites: 'all', access: 'write', payouts: true, account: true };
/** What an owner gives unless they choose otherwise. */
export const usualScope: Scope = { sites: 'all', access: 'write', payouts: false, account: false };

/** At most this many sites in a scope. */
export const scopeSitesMax = 50;

/** Of a new token, as its maker asks for it. */
export type AskedScope = { [Part in keyof Scope]?: Scope[Part] | undefined };

/** The scope that is asked for. Missing parts are those of the maker, but without the two powers. */
export function completeScope(
  maker: Scope,
  { sites = maker.sites, access = maker.access, payouts = false, account = false }: AskedScope = {},
): Scope {
  return { sites, access, payouts, account };
}

/** Whether the scope includes the site. */
export function includesSite({ sites }: Pick<Scope, 'sites'>, siteId: string): boolean {
  return sites === 'all' || sites.includes(siteId);
}

/** What of `wanted` the scope does not have; null if it has all. */
export function lackingIn(scope: Scope, wanted: PartOfScope): PartOfScope | null {
  const lacking: PartOfScope = {
    ...lackingSites(scope, wanted.sites),
    ...(wanted.access === 'write' && scope.access === 'read' ? { access: 'write' } : {}),
    ...(wanted.payouts && !scope.payouts ? { payouts: true } : {}),
    ...(wanted.account && !scope.account ? { account: true } : {}),
  };
  return Object.keys(lacking).length > 0 ? lacking : null;
}

function lackingSites({ sites: has }: Scope, wanted: Scope['sites'] = []): Pick<PartOfScope, 'sites'> {
  if (has === 'all') return {};
  if (wanted === 'all') return { sites: 'all' };
  const sites = wanted.filter((id) => !has.includes(id));
  return sites.length > 0 ? { sites } : {};
}

/** The scope with this in addition. */
export function widened(scope: Scope, more: PartOfScope): Scope {
  const all = scope.sites === 'all' || more.sites === 'all';
  return {
    sites: all ? 'all' : [...new Set([...scope.sites, ...(more.sites ?? [])])],
    access: scope.access === 'write' || more.access === 'write' ? 'write' : 'read',
    payouts: scope.payouts || more.payouts === true,
    account: scope.account || more.account === true,
  };
}

/** OAuth's names (RFC 6749 section 3.3). */
export const oauthScopes = ['sites:read', 'sites:write', 'payouts', 'account'] as const;

/** The scope in OAuth's words. A list of sites cannot be expressed in them. */
export function oauthScopeOf({ access, payouts, account }: Scope): string {
  const granted = {
    'sites:read': true,
    'sites:write': access === 'write',
    payouts,
    account,
  };
  return oauthScopes.filter((name) => granted[name]).join(' ');
}
