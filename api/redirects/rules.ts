/** The redirect rules that a call sets. They belong to the site and survive publishes and restores. */

import { type Actor, loadSite, requireChangeable } from '#api/access.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { siteHosts } from '#db/domains/site-hosts.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { raiseForRules } from '#db/scanning/transitions.ts';
import { formerNamesOf } from '#db/sites/former-names.ts';
import { Site } from '#db/sites/site.ts';
import { describeExternalTargets } from '#providers/redirects/external-targets.ts';
import { checkRedirects } from '#providers/redirects/rules.ts';
import type { RedirectRule } from '#providers/redirects.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { siteAddress } from '#runtime/site-addresses.ts';

export async function redirectsOf(deps: Deps, { redirectsSha256 }: Site): Promise<RedirectRule[]> {
  if (!redirectsSha256) return [];
  const blob = await deps.store.readAll(redirectsSha256);
  if (!blob) throw errors.storage_error('This site’s redirects could not be read.');
  return JSON.parse(blob.toString());
}

/** Replaces all rules of the site; edges apply them within a second. Throws `invalid_redirects`, `site_archived`. */
export async function setRedirects(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  rules: readonly { from: string; to?: string | null | undefined; status: number }[],
): Promise<RedirectRule[]> {
  const site = await loadSite(em, actor, siteId);
  requireChangeable(site);
  const written = rules.map(({ from, to, status }, index) => ({
    name: `Rule ${index + 1}`,
    from,
    to: to ?? undefined,
    status,
  }));
  const { address: home } = await canonicalUrl(em, deps.config, site);
  // A loop may go through any of the site's addresses.
  checkRedirects(written, home);
  for (const { name } of await formerNamesOf(em, deps.clock.now(), site.id))
    checkRedirects(written, siteAddress(deps.config, name));
  const checked = checkRedirects(written, siteAddress(deps.config, site.name));
  // Store the bytes first: an edge may read them as soon as the row refers to them.
  const { sha256 } = await deps.store.put(Buffer.from(JSON.stringify(checked)));
  await deps.store.flush();
  const own = { hosts: await siteHosts(em, deps.config, site), platform: new URL(deps.config.baseUrl).host };
  const excerpt = describeExternalTargets(checked, own);
  const isSet = await em.transactional(async (tx) => {
    const [row] = await tx.execute<{ id: string }[]>(
      `update site set redirects_sha256 = ? where id = ? and status = 'active' and owner_blocked_at is null returning id`,
      [checked.length > 0 ? sha256 : null, site.id],
    );
    const detail = { rules: checked.length };
    if (row) recordAct(tx, deps.clock, actor, 'redirects.replaced', { site, detail });
    if (row && excerpt) await raiseForRules(tx, deps.clock, { site: site.id, sha256, excerpt });
    return row !== undefined;
  });
  if (isSet) return checked;
  // The site may have been archived or blocked meanwhile, and perhaps restored.
  requireChangeable(await em.findOneOrFail(Site, { id: site.id }, { refresh: true }));
  return await setRedirects(em, deps, actor, siteId, rules);
}
