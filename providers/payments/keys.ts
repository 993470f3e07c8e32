/** What a key for the provider of payments is, by its look alone. Pure. */

/** `restricted`: of the kind that its owner has given a few rights. `unrestricted`: one with all of them. `public`: for browsers. */
export type KeyKind = 'restricted' | 'unrestricted' | 'public' | 'unknown';

const kinds: Record<string, KeyKind> = { rk: 'restricted', sk: 'unrestricted', pk: 'public' };

/** `live`: moves real money. */
export function classifyKey(key: string): { kind: KeyKind; live: boolean } {
  const found = /^(rk|sk|pk)_(live|test)_[A-Za-z0-9_]{8,250}$/.exec(key);
  return { kind: kinds[found?.[1] ?? ''] ?? 'unknown', live: found?.[2] === 'live' };
}

/** Whether a deployment moves real money: it speaks to the provider itself, with a key of ours that does, or with none. */
export function movesRealMoney({ key, url }: { key: string; url: string }): boolean {
  return new URL(url).hostname.endsWith('.stripe.com') && (key === '' || classifyKey(key).live);
}
