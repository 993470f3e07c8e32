/** Who has access, as the contract says it: a model that looks at makers and times, where the product looks at rows. */

export type Scope = { sites: 'all' | number[]; access: 'read' | 'write'; account: boolean };
export type Kind = 'token' | 'client' | 'git' | 'upload' | 'review' | 'session';

/** Something with a secret. A client is OAuth access: a token that is renewed. */
export type Thing = {
  kind: Kind;
  label: string;
  id: string;
  secret: string;
  account: number;
  expiresAt: number;
  ended: boolean;
  /** The token or client that made it. */
  maker?: Thing;
  /** Of tokens and clients. */
  scope?: Scope;
  /** Of what gives access to one site. */
  site?: number;
  /** How often the account had left the site when this was made. */
  stay?: number;
  write?: boolean;
  /** Of clients: the current refresh token, and the one before. */
  refresh?: { secret: string; expiresAt: number; usedAt?: number };
  refreshed?: { secret: string; expiresAt: number; usedAt: number };
};

export type Model = {
  accounts: { blocked: boolean }[];
  /** Once deleted, a site is its owner's alone, who can restore it until it is purged. */
  sites: { owner: number; archived: boolean; blocked: boolean; deleteAt?: number | undefined; purged: boolean }[];
  /** Account 1 on site 0. */
  joined: boolean;
  departures: number;
  things: Thing[];
  /** Secrets that were replaced. */
  replaced: string[];
};

export const newModel = (): Model => ({
  accounts: [{ blocked: false }, { blocked: false }],
  sites: [0, 0, 1].map((owner) => ({ owner, archived: false, blocked: false, purged: false })),
  joined: true,
  departures: 0,
  things: [],
  replaced: [],
});

export function isMember(model: Model, account: number, site: number): boolean {
  const { owner, deleteAt, purged } = model.sites[site] ?? {};
  if (purged) return false;
  return owner === account || (site === 0 && model.joined && deleteAt === undefined);
}

export const isBlocked = (model: Model, account: number): boolean => model.accounts[account]?.blocked === true;

function isClosed(model: Model, site: number): boolean {
  const { owner = 0, archived, blocked } = model.sites[site] ?? {};
  return archived === true || blocked === true || isBlocked(model, owner);
}

/** When it ends by time. OAuth access lasts while it can be renewed. */
export const endOf = ({ expiresAt, refresh }: Thing): number => Math.max(expiresAt, refresh?.expiresAt ?? 0);

/** Whether neither it nor anything that it came from has ended. */
export function lives(thing: Thing, now: number): boolean {
  return !thing.ended && endOf(thing) > now && (!thing.maker || lives(thing.maker, now));
}

/** Whether the secret of a token or client identifies its account. */
export const identifies = (model: Model, thing: Thing, now: number): boolean =>
  lives(thing, now) && thing.expiresAt > now && !isBlocked(model, thing.account);

export const covers = ({ sites }: Scope, site: number): boolean => sites === 'all' || sites.includes(site);

/** Whether a token may have the scope of another. */
export function includes(scope: Scope, other: Scope): boolean {
  const sites = other.sites === 'all' ? scope.sites === 'all' : other.sites.every((site) => covers(scope, site));
  return sites && (scope.access === 'write' || other.access === 'read') && (scope.account || !other.account);
}

/** Whether the token or client may read the site, or do more with it. */
export function reaches(model: Model, thing: Thing, site: number, now: number, more: Partial<Scope> = {}): boolean {
  const { scope, account } = thing;
  if (!scope || !identifies(model, thing, now)) return false;
  return includes(scope, { sites: [site], access: 'read', account: false, ...more }) && isMember(model, account, site);
}

/** Whether the account that made it has had access to the site ever since. */
export function stayed(model: Model, { account, site = 0, stay }: Thing): boolean {
  if (!isMember(model, account, site)) return false;
  return model.sites[site]?.owner === account || stay === model.departures;
}

/** Whether its holder gets what it is for; `write`: whether a git credential may push. */
export function works(model: Model, thing: Thing, now: number, { write = false } = {}): boolean {
  const { kind, account, site = 0 } = thing;
  if (!lives(thing, now) || isBlocked(model, account)) return false;
  if (kind === 'session') return true;
  if (kind === 'git') {
    return stayed(model, thing) && (!write || (thing.write === true && model.sites[site]?.archived === false));
  }
  return stayed(model, thing) && !isClosed(model, site);
}
