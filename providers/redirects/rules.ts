/** Validates redirect rules, those of the API and those of a deployment's own `_redirects`. Pure. */

import { printable } from '#providers/paths.ts';
import { placeholder, placeholderFault, placeholdersOf } from '#providers/placeholders.ts';
import {
  createRedirectTable,
  hopsMax,
  isChallenge,
  type RedirectRule,
  type RedirectStatus,
  readFrom,
  redirectStatuses,
  rewriteStatus,
  terminates,
} from '#providers/redirects.ts';
import { errors } from '#runtime/errors.ts';

export const rulesMax = 2_000;
// Rules with placeholders are tried one after another, and each segment before a * is a folder in memory: these bound both.
const placeholderRulesMax = 100;
const openSegmentsMax = 20;
const fromBytesMax = 1_024;
const toBytesMax = 2_048;

/** A rule as written, and its name in messages: `Rule 3`, `Line 7 of _redirects`. */
export type RawRule = { name: string; from: string; to?: string | undefined; status: number };

/** `rewrites`: whether the list may contain them. */
type Allowed = { rewrites?: boolean };

/**
 * Returns the rules if all of them are valid together. `origin` is the site's own address. Throws `invalid_redirects`,
 * which names the first invalid rule and the reason.
 */
export function checkRedirects(
  written: readonly RawRule[],
  origin: string,
  { rewrites = false }: Allowed = {},
): RedirectRule[] {
  if (written.length > rulesMax) {
    throw refuse(
      `There are ${written.length} redirects; the limit is ${rulesMax}`,
      'Use rules that end in /* to redirect whole folders.',
    );
  }
  const names = new Map<string, string>();
  let withPlaceholders = 0;
  const rules = written.map((rule) => {
    const checked = checkRule(rule, rewrites ? [rewriteStatus, ...redirectStatuses] : redirectStatuses);
    const { path, splat } = readFrom(checked.from);
    if (placeholdersOf(path).length > 0 && ++withPlaceholders > placeholderRulesMax)
      throw refuse(`${rule.name} has placeholders; the limit is ${placeholderRulesMax} such rules`);
    // `/:a` and `/:b` match the same paths.
    const key = `${path.replaceAll(placeholder, ':')}${splat ? '/*' : ''}`;
    const earlier = names.get(key);
    if (earlier !== undefined) throw refuse(`${rule.name} has the same path as ${lowered(earlier)}: ${checked.from}`);
    names.set(key, rule.name);
    return checked;
  });
  requireNoLoops(rules, written, origin);
  return rules;
}

/** Starts at each rule's own path, and at one below those that end in `/*`: every loop passes through one of these. */
function requireNoLoops(rules: readonly RedirectRule[], written: readonly RawRule[], origin: string): void {
  const table = createRedirectTable(rules);
  rules.forEach((rule, index) => {
    const { path: pattern, splat } = readFrom(rule.from);
    const path = pattern.replaceAll(placeholder, below);
    const starts = splat ? [path, `${path}/${below}`.replace(/^\//, '')] : [path];
    if (starts.every((start) => terminates([table], start, origin))) return;
    throw refuse(
      `${written[index]?.name} creates a loop, or a chain of more than ${hopsMax} redirects: ${rule.from}`,
      'Make the rule redirect directly to the final page.',
    );
  });
}

// A segment that no rule contains.
const below = '\u{10FFFD}';

function checkRule({ name, from, to, status }: RawRule, statuses: readonly number[]): RedirectRule {
  const no = (fault: string) => refuse(`${name} ${fault}`);
  if (!statuses.includes(status))
    throw no(`has the status ${printable(String(status))}; the supported statuses are ${statuses.join(', ')}`);
  const fault = faultOfFrom(from);
  if (fault) throw no(`${fault}: ${printable(from)}`);
  if (to === undefined && status !== 410) throw no('has no target');
  if (to === undefined) return { from, status: 410 };
  const target = readTo(to, from);
  if ('fault' in target) throw no(`${target.fault}: ${printable(to)}`);
  const wrong = status === rewriteStatus ? faultOfRewrite(from, target.to) : undefined;
  if (wrong) throw no(`${wrong}: ${printable(to)}`);
  return { from, to: target.to, status: status as RedirectStatus };
}

function faultOfRewrite(from: string, to: string): string | undefined {
  if (!to.startsWith('/')) return 'has the status 200, but its target is not a path of this site';
  if (/[?#]/.test(to)) return 'has the status 200, but its target has a query or fragment';
  if ([to, from].some((path) => isChallenge(readFrom(path).path)))
    return 'rewrites a path of certificate authorities, which the platform answers itself';
  return undefined;
}

function faultOfFrom(from: string): string | undefined {
  if (!from.startsWith('/')) return 'has a path that does not begin with a slash';
  if (Buffer.byteLength(from) > fromBytesMax) return `has a path longer than ${fromBytesMax} bytes`;
  if (/[?#]/.test(from)) return 'has a query or fragment in its path, but rules match paths only';
  const plain = from.endsWith('/*') ? from.slice(0, -2) : from;
  if (plain.includes('*')) return 'has a * that is not at the end of its path; use a path such as /old/*';
  if (!from.isWellFormed() || /%2f|%5c|[\\\s\p{Cc}]/iu.test(from))
    return 'has a path that contains a character that is not allowed';
  try {
    const { path, splat } = readFrom(from);
    if (/[\\\p{Cc}]/u.test(path) || path.startsWith('/'))
      return 'has a path that contains a character that is not allowed';
    const wrong = placeholderFault(path);
    if (wrong) return wrong;
    if ((splat || placeholdersOf(path).length > 0) && path.split('/').length > openSegmentsMax)
      return `has a * or a placeholder, and more than ${openSegmentsMax} segments`;
    return /(^|\/)\.{1,2}(\/|$)/.test(path) ? 'has . or .. in its path' : undefined;
  } catch {
    return 'has an invalid % escape';
  }
}

function readTo(to: string, from: string): { to: string } | { fault: string } {
  if (Buffer.byteLength(to) > toBytesMax) return { fault: `redirects to a URL longer than ${toBytesMax} bytes` };
  // White space too: URL parsers drop it, and `/\t/host` becomes another host.
  if (!to.isWellFormed() || /[\\\s\p{Cc}]/u.test(to))
    return { fault: 'redirects to a URL that contains a character that is not allowed' };
  if (to.includes('*')) return { fault: 'has a * in its target; write :splat for the part that matched' };
  if (to.includes(':splat') && !from.endsWith('/*')) return { fault: 'uses :splat, but its path does not end in /*' };
  const unknown = unknownPlaceholder(to, from);
  if (unknown !== undefined) return { fault: `uses ${printable(unknown)}, which its path does not have` };
  if (to.startsWith('//'))
    return { fault: 'redirects to a URL that begins with // (a different host, without a scheme)' };
  const isPath = to.startsWith('/');
  if (!isPath && !/^https?:\/\//i.test(to))
    return { fault: 'has a target that is neither a path on the site nor an http:// or https:// URL' };
  const url = URL.parse(to, isPath ? 'http://site.invalid' : undefined);
  if (!url || url.username || url.password) return { fault: 'redirects to a URL that cannot be parsed' };
  try {
    decodeURIComponent(url.pathname);
  } catch {
    return { fault: 'redirects to a URL with an invalid % escape' };
  }
  const plain = isPath ? url.pathname + url.search + url.hash : url.href;
  return { to: plain === `${to}/` ? to : plain };
}

/** A name at the start of a segment or a query's value is meant as a placeholder; `/Talk:Main` is a plain path. */
function unknownPlaceholder(to: string, from: string): string | undefined {
  const known = new Set([...placeholdersOf(from), 'splat']);
  return [...to.matchAll(/(?<=[^:/]\/|^\/|=):([A-Za-z_]\w*)/g)].find(([, name]) => !known.has(name as string))?.[0];
}

function refuse(message: string, nextAction = 'Correct the rule, then send the whole list again.') {
  return errors.invalid_redirects(`${message}.`, { nextAction });
}

function lowered(name: string): string {
  return name.charAt(0).toLowerCase() + name.slice(1);
}
