/** Where redirect rules lead visitors away from a site, for a person to look at. Pure. */
import { contentTypeOf } from '#providers/media-types.ts';
import type { RedirectRule } from '#providers/redirects.ts';

/** Hosts that are the site's own, and the platform's with its port. */
export type OwnHosts = { hosts: ReadonlySet<string>; platform: string };

/**
 * What is to be said of the rules that lead from a page to another host: all of the site first, then its front page. A page is what is no file
 * of another kind, such as a picture. Undefined where none does. A site that has moved does this too: it is a hint, not a verdict.
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
