/** Finds redirect rules that send visitors to other hosts, for an operator to review. Pure. */
import { contentTypeOf } from '#providers/media-types.ts';
import type { RedirectRule } from '#providers/redirects.ts';

/** The site's own hosts, and the platform's host with its port. */
export type OwnHosts = { hosts: ReadonlySet<string>; platform: string };

/**
 * Describes the rules that redirect a page to another host: first one for the whole site, then one for the front page.
 * A page is any path except a file of another kind, such as a picture. Undefined if there is no such rule. A site that
 * has moved has such rules too: this is a hint, not a verdict.
 */
export function describeExternalTargets(rules: readonly RedirectRule[], own: OwnHosts): string | undefined {
  const away = rules.filter((rule) => isPage(rule.from) && isElsewhere(rule, own));
  const [worst] = away.toSorted((a, b) => rankOf(a) - rankOf(b));
  if (!worst) return undefined;
  const more = away.length > 1 ? `, and ${away.length - 1} more` : '';
  return `${worst.from.slice(0, 60)} redirects to ${worst.to?.slice(0, 100)}${more}`;
}

function isElsewhere({ to = '', status }: RedirectRule, { hosts, platform }: OwnHosts): boolean {
  const target = status === 410 || to.startsWith('/') ? null : URL.parse(to);
  return target !== null && !hosts.has(target.hostname) && target.host !== platform;
}

const rankOf = ({ from }: RedirectRule): number => (from === '/*' ? 0 : from === '/' ? 1 : 2);

function isPage(from: string): boolean {
  const name = from.slice(from.lastIndexOf('/') + 1);
  return !name.includes('.') || /^(?:text\/html|application\/octet-stream)|xml/.test(contentTypeOf(name));
}
