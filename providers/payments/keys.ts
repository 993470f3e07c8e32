/** Classifies keys of the payment provider by their format alone. Pure. */

/** `restricted`: has the few rights that its owner chose. `unrestricted`: has all rights. `public`: for browsers. */
export type KeyKind = 'restricted' | 'unrestricted' | 'public' | 'unknown';

const kinds: Record<string, KeyKind> = { rk: 'restricted', sk: 'unrestricted', pk: 'public' };

/** `live`: moves real money. */
export function classifyKey(key: string): { kind: KeyKind; live: boolean } {
  const match = /^(rk|sk|pk)_(live|test)_[A-Za-z0-9_]{8,250}$/.exec(key);
  return { kind: kinds[match?.[1] ?? ''] ?? 'unknown', live: match?.[2] === 'live' };
}

/** Whether a deployment moves real money: it uses the provider itself, with a live key of this platform or with none. */
export function movesRealMoney({ key, url }: { key: string; url: string }): boolean {
  return new URL(url).hostname.endsWith('.stripe.com') && (key === '' || classifyKey(key).live);
}
