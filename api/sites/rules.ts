/** Creating, changing and archiving a site. */

import { UniqueConstraintViolationException } from '@mikro-orm/core';
import {
  type Actor,
  loadSite,
  noSuchSite,
  type Person,
  requireActive,
  requireChangeable,
  requireOwner,
  requireSiteNotBlocked,
} from '#api/access.ts';
import { missing } from '#api/capabilities.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { revokeReviewsOf } from '#api/review-links/links.ts';
import { authorOf } from '#api/source/commits.ts';
import { Account } from '#db/accounts/account.ts';
import { Booking } from '#db/bookings/booking.ts';
import { expireHolds } from '#db/bookings/holds.ts';
import { cancelUnfinished } from '#db/deployments/transitions.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { pendingOfSite } from '#db/sites/pending.ts';
import { Site } from '#db/sites/site.ts';
import { countSites, liveDeploymentOf, lockSite } from '#db/sites/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { publicIdOf } from '#runtime/ids.ts';
import { readTemplate } from '#templates/templates.ts';
import { claimFreeName, nameTaken, renameSite, requireFreeName } from './names.ts';
import { stillPending } from './remaining.ts';
import type { SiteChange, UnpublishedChanges } from './schemas.ts';

export type NewSite = { id: string; name: string; title: string; template: string | null };

/**
 * Creates a site with both repositories from a template, or with empty ones. The repositories are created first: a visible site always has them, and a call
 * that dies before its row is written reserves no name. Throws `invalid_name`, `invalid_template`, `plan_limit`.
 */
export async function createSite(em: EntityManager, deps: Deps, actor: Actor, input: NewSite): Promise<Site> {
  const { repositories, clock } = deps;
  if (!repositories)
    throw missing(deps.config, 'repositories') ?? new Error('repositories are enabled but not available');
  // The repositories of a call that is resumed name it already.
  const publicId = publicIdOf(input.id);
  const tree = input.template === null ? null : await treeOf(deps, input.template, { title: input.title, publicId });
  await requireFreeName(em, clock.now(), input.name);
  await em.transactional((tx) => requireSiteLimit(tx, deps, actor.accountId));
  const owner = await em.findOneOrFail(Account, actor.accountId);
  await repositories.create(input.id, tree, authorOf(owner, actor), clock.now());
  return await em
    .transactional(async (tx) => {
      await requireSiteLimit(tx, deps, actor.accountId);
      await claimFreeName(tx, clock.now(), input.name);
      const site = tx.create(Site, {
        ...input,
        template: input.template ?? '',
        account: tx.getReference(Account, actor.accountId),
        status: 'active',
        publicId,
        createdAt: clock.now(),
      });
      recordAct(tx, clock, actor, 'site.created', { site, detail: { template: input.template } });
      return site;
    })
    .catch(translateTakenName);
}

async function treeOf(
  { config }: Pick<Deps, 'config'>,
  template: string,
  { title, publicId }: { title: string; publicId: string },
) {
  const bookings = { widget: `${config.baseUrl}/b/widget.js`, site: publicId };
  const tree = await readTemplate(template, { title, bookings });
  if (!tree) throw noSuchTemplate();
  return tree;
}

/**
 * Changes the title or the name. A new name changes the address at once, and the old address redirects; only the owner
 * may do that. Throws `owner_only`, `nothing_to_update`, `invalid_name`, `site_archived`, `rate_limited`.
 */
export async function updateSite(
  em: EntityManager,
  deps: Pick<Deps, 'clock' | 'config'>,
  actor: Actor,
  siteId: string,
  { title, name, colors }: SiteChange,
): Promise<Site> {
  return await em
    .transactional(async (tx) => {
      const site = await lockVisibleSite(tx, actor, siteId);
      if (name !== undefined) requireOwner(site, actor, 'change its name');
      requireChangeable(site);
      if (title === undefined && name === undefined && colors === undefined) {
        throw errors.nothing_to_update('The request contains no changes.', {
          nextAction: 'Send a title, a name or colors.',
        });
      }
      const before = { name: site.name, title: site.title, colors: writtenColors(site.colors) };
      if (name !== undefined && name !== site.name) {
        requireSiteNotBlocked(site, 'be renamed');
        await renameSite(tx, deps, site, name);
      }
      site.title = title ?? site.title;
      if (colors !== undefined) site.colors = colors;
      const changed = {
        ...changeOf('name', before.name, site.name),
        ...changeOf('title', before.title, site.title),
        ...changeOf('colors', before.colors, writtenColors(site.colors)),
      };
      recordAct(tx, deps.clock, actor, 'site.updated', { site, detail: changed });
      return site;
    })
    .catch(translateTakenName);
}

/** A field of `detail` whose value changed; nothing where it did not. */
function changeOf(field: string, from: string | null, to: string | null) {
  return to === from ? {} : { [field]: { from, to } };
}

const writtenColors = (colors: SiteChange['colors']): string | null =>
  colors ? `${colors.accent} on ${colors.background}` : null;

/** Stops serving the site and cancels its builds. Archiving an archived site changes nothing. */
export async function archiveSite(em: EntityManager, { clock }: Deps, actor: Actor, siteId: string): Promise<Site> {
  return await em.transactional(async (tx) => {
    const site = await lockOwnSite(tx, actor, siteId, 'archive it');
    if (site.status === 'archived') return site;
    site.status = 'archived';
    site.archivedAt = clock.now();
    await expireHolds(tx, clock, site.id);
    await revokeReviewsOf(tx, { siteId, now: clock.now() });
    await cancelUnfinished(tx, clock, [site]);
    recordAct(tx, clock, actor, 'site.archived', { site });
    return site;
  });
}

/** What does not end with an archived site, and how many bookings did, in words; undefined if there is nothing. */
export async function pendingAfterArchiving(
  em: EntityManager,
  clock: Deps['clock'],
  site: Site,
): Promise<string | undefined> {
  const now = clock.now();
  // Those that ran out before have an earlier time.
  const expiredWithIt = { site: site.id, status: 'expired', holdExpiresAt: { $gte: site.archivedAt ?? now } } as const;
  return stillPending(site, await pendingOfSite(em, now, site.id), await em.count(Booking, expiredWithIt));
}

/** Serves the last live version again. Throws `site_archived` where the site is being deleted, `plan_limit` when the account already has its limit of active sites. */
export async function unarchiveSite(em: EntityManager, deps: Deps, actor: Actor, siteId: string): Promise<Site> {
  return await em.transactional(async (tx) => {
    const site = await lockOwnSite(tx, actor, siteId, 'put it online');
    if (site.status === 'active') return site;
    if (site.deleteAt) requireActive(site);
    await requireSiteLimit(tx, deps, site.account.id);
    site.status = 'active';
    site.archivedAt = null;
    recordAct(tx, deps.clock, actor, 'site.unarchived', { site });
    return site;
  });
}

/**
 * Which repositories are ahead of the live version, and whether its pages name another address. Without a live version,
 * repositories that have commits are ahead.
 */
export async function unpublishedChanges(em: EntityManager, deps: Deps, site: Site): Promise<UnpublishedChanges> {
  const { repositories } = deps;
  const live = await liveDeploymentOf(em, site);
  const address = live !== null && live.siteUrl !== (await canonicalUrl(em, deps.config, site)).address;
  if (!repositories) return { source: false, content: false, address };
  const [source, content] = await Promise.all([
    repositories.head(site.id, 'source'),
    repositories.head(site.id, 'content'),
  ]);
  return {
    source: (live?.sourceCommit ?? null) !== source,
    content: (live?.contentCommit ?? null) !== content,
    address,
  };
}

/** The caller's own site, locked until the transaction ends. */
export async function lockOwnSite(tx: EntityManager, actor: Person, siteId: string, what: string): Promise<Site> {
  requireOwner(await loadSite(tx, actor, siteId), actor, what);
  return await lockVisibleSite(tx, actor, siteId);
}

/** A site that the caller may act on, locked until the transaction ends. */
async function lockVisibleSite(tx: EntityManager, actor: Person, siteId: string): Promise<Site> {
  const { id } = await loadSite(tx, actor, siteId);
  const site = await lockSite(tx, id);
  // Its purge began while the lock was held elsewhere.
  if (site.purgedAt) throw noSuchSite();
  return site;
}

/**
 * Archived sites keep their name and their bytes but do not count: otherwise an account could never make room. Sites
 * under deletion count, so that a deletion is no way to have more.
 */
async function requireSiteLimit(em: EntityManager, deps: Deps, accountId: string): Promise<void> {
  await countWithinLimit(em, deps, {
    limit: 'sites',
    accountId,
    count: () => countSites(em, accountId),
    what: 'sites',
    nextAction: `Archive an unused site with ${call('site.archive')}.`,
  });
}

function translateTakenName(error: unknown): never {
  if (error instanceof UniqueConstraintViolationException && error.message.includes('site_name_key')) throw nameTaken();
  throw error;
}

function noSuchTemplate(): AppError {
  return errors.invalid_template('There is no template with this name.', {
    nextAction: `Call ${call('template.list')} to list the templates.`,
  });
}
