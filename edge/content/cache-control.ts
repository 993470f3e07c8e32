/** Cache-Control of pages (RFC 9111 section 5.2.2): a new version must reach visitors within a minute. Pure. */

const secondsMax = 60;

/** Directives that never keep a page longer. */
const harmless: ReadonlySet<string> = new Set([
  'must-revalidate',
  'must-understand',
  'no-cache',
  'no-store',
  'no-transform',
  'private',
  'proxy-revalidate',
  'public',
]);

/** The field for a page: ages are at most a minute, and directives that prolong them are absent. */
export function cappedForPages(field: string): string {
  const kept = new Set<string>();
  for (const part of field.toLowerCase().split(',')) {
    const [name = '', value = ''] = part.split('=').map((side) => side.trim());
    if (harmless.has(name)) kept.add(name);
    else if (name === 'max-age' || name === 's-maxage') kept.add(`${name}=${Math.min(secondsOf(value), secondsMax)}`);
  }
  // Without an age, caches would choose one (RFC 9111 section 4.2.2).
  const names = [...kept].map((directive) => directive.split('=', 1)[0]);
  if (!['max-age', 'no-cache', 'no-store'].some((name) => names.includes(name))) kept.add('max-age=0');
  return [...kept].join(', ');
}

function secondsOf(value: string): number {
  const digits = /^"?(\d{1,10})"?$/.exec(value)?.[1];
  return digits === undefined ? 0 : Number(digits);
}
