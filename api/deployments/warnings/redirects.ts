/** Redirects and rewrites to pages of the site that do not exist. Pure. */
import { decodedPath } from '#providers/manifest-paths.ts';
import { printable } from '#providers/paths.ts';
import { placeholderName } from '#providers/placeholders.ts';
import { type RedirectRule, rewriteStatus } from '#providers/redirects.ts';

export type BrokenRedirect = { from: string; to: string; message: string };

/** `origins`: the site's own. `leads`: whether there is something at a decoded path. A target with placeholders is unknown. */
export function brokenRedirects(
  rules: readonly RedirectRule[],
  origins: readonly string[],
  leads: (path: string) => boolean,
): BrokenRedirect[] {
  const [origin = 'http://site.invalid'] = origins;
  return rules.flatMap(({ from, to, status }) => {
    const target = to === undefined || to.search(placeholderName) >= 0 ? null : URL.parse(to, origin);
    const isOwn = target && (to?.startsWith('/') || origins.includes(target.origin));
    const path = isOwn ? decodedPath(target.pathname) : undefined;
    if (!target || path === undefined || leads(path)) return [];
    const what = status === rewriteStatus ? 'The rewrite of' : 'The redirect from';
    const shown = printable(target.pathname);
    const message = `${what} ${printable(from)} leads to ${shown}, which does not exist in this version.`;
    return [{ from, to: shown, message }];
  });
}
