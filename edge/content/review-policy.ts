/**
 * Makes room for the review overlay in the policies that a site sets for its own pages (Content Security Policy Level 3).
 * Only what the overlay needs is added. Pure.
 */

/** Policies of a site that can keep the platform's own elements from working. */
export const sitePolicies: ReadonlySet<string> = new Set([
  'content-security-policy',
  'content-security-policy-report-only',
  'cross-origin-embedder-policy',
]);

type Admitted = {
  /** For the overlay's script and styles. */
  nonce: string;
  /** Origin of the review frame. */
  frameOrigin: string;
};

type Directives = Map<string, string[]>;

/** The field with room for the overlay in each of its policies. */
export function admitOverlay(field: string, admitted: Admitted): string {
  return field
    .split(',')
    .map((policy) => admitIn(readPolicy(policy), admitted))
    .join(', ');
}

function admitIn(directives: Directives, { nonce, frameOrigin }: Admitted): string {
  const withNonce = (inline: string[]) => (sources: string[]) =>
    // A nonce would turn off 'unsafe-inline'.
    allowsInline(sources) ? [...sources, ...inline] : [...sources, `'nonce-${nonce}'`];
  for (const name of ['script-src', 'script-src-elem']) admit(directives, name, ['default-src'], withNonce(["'self'"]));
  for (const name of ['style-src', 'style-src-elem']) admit(directives, name, ['default-src'], withNonce([]));
  admit(directives, 'frame-src', ['child-src', 'default-src'], (sources) => [...sources, frameOrigin]);
  // A sandboxed page would pass its limits on to the frame.
  directives.delete('sandbox');
  return [...directives].map(([name, sources]) => [name, ...sources].join(' ')).join('; ');
}

/** Extends a directive, or makes it from the one that applies in its place. */
function admit(
  directives: Directives,
  name: string,
  fallbacks: readonly string[],
  extend: (sources: string[]) => string[],
): void {
  const from = [name, ...(name.endsWith('-elem') ? [] : fallbacks)].find((one) => directives.has(one));
  if (from === undefined) return;
  const sources = (directives.get(from) ?? []).filter((source) => source.toLowerCase() !== "'none'");
  directives.set(name, extend(sources));
}

function allowsInline(sources: readonly string[]): boolean {
  const lower = sources.map((source) => source.toLowerCase());
  return lower.includes("'unsafe-inline'") && !lower.some((source) => /^'(?:nonce-|sha\d|strict-dynamic)/.test(source));
}

/** Of a repeated directive the first applies. */
function readPolicy(policy: string): Directives {
  const directives: Directives = new Map();
  for (const part of policy.split(';')) {
    const [name, ...sources] = part.trim().split(/\s+/);
    const key = name?.toLowerCase() ?? '';
    if (key !== '' && !directives.has(key)) directives.set(key, sources);
  }
  return directives;
}
