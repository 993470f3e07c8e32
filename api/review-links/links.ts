/** Review links: create, list, revoke, and the person behind one. */

import {
  type Actor,
  findSite,
  loadSite,
  makerOf,
  personOf,
  requireAccessible,
  requireActive,
  roleOf,
} from '#api/access.ts';
import type { Author } from '#api/comments/rules.ts';
import { hashSecret } from '#api/secrets.ts';
import { lifetimeWithin, madeWith } from '#api/tokens/expiry.ts';
import { Account } from '#db/accounts/account.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import { ReviewLink } from '#db/review-links/review-link.ts';
import { isClosed } from '#db/sites/blocks.ts';
import type { Site } from '#db/sites/site.ts';
import { daySeconds } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { requireSlot } from './slots.ts';

export const secretPrefix = 'frr';

export type LinkStatus = 'open' | 'expired' | 'ended';

export function statusOf(link: ReviewLink, now: Date): LinkStatus {
  if (link.endedAt) return 'ended';
  return link.expiresAt <= now ? 'expired' : 'open';
}

export type NewLink = {
  id: string;
  secret: string;
  expires_in_seconds?: number | undefined;
  slot?: number | undefined;
};

/** Creates a link to the live site or to a preview slot. Throws `site_archived`, `invalid_slot`, `preview_empty`, `invalid_expiry`. */
export async function createLink(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { id, secret, expires_in_seconds, slot }: NewLink,
): Promise<ReviewLink> {
  const { clock } = deps;
  const site = await loadSite(em, actor, siteId);
  requireActive(site);
  if (slot !== undefined) await requireSlot(em, deps, site, roleOf(site, actor), slot);
  const now = deps.clock.now();
  const lifetime = { seconds: expires_in_seconds, usual: 7 * daySeconds };
  const expiresAt = await lifetimeWithin(em, now, actor, lifetime);
  const link = {
    id,
    site,
    account: em.getReference(Account, actor.accountId),
    madeBy: makerOf(actor),
    slot: slot ?? null,
    hash: hashSecret(secret),
    createdAt: now,
    expiresAt,
  };
  return await madeWith(em, actor, (tx) => {
    const detail = { slot: link.slot, expires_at: expiresAt };
    recordAct(tx, clock, actor, 'review_link.created', { site, subject: { id, name: null }, detail });
    return tx.create(ReviewLink, link);
  });
}

/** The link, if the caller may act on its site. */
export async function loadLink(em: EntityManager, actor: Actor, linkId: string): Promise<ReviewLink> {
  const link = isId('rev', linkId) ? await em.findOne(ReviewLink, { id: linkId }) : null;
  return await requireAccessible(em, actor, link, { what: 'review link', list: 'review.list' });
}

/** Revokes a link at once, also in browsers that have it open. Revoking it again changes nothing. */
export async function revokeLink(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  linkId: string,
): Promise<ReviewLink> {
  const link = await loadLink(em, actor, linkId);
  await em.transactional(async (tx) => {
    if ((await tx.nativeUpdate(ReviewLink, { id: link.id, endedAt: null }, { endedAt: clock.now() })) === 0) return;
    recordAct(tx, clock, actor, 'review_link.revoked', {
      site: link.site as Site,
      subject: { id: link.id, name: null },
    });
  });
  await em.refresh(link);
  return link;
}

/** Revokes the links to a site, of one account or all. Call it in the transaction that removes the account's access or the site. */
export async function revokeReviewsOf(
  tx: EntityManager,
  { siteId, accountId, now }: { siteId: string; accountId?: string; now: Date },
): Promise<number> {
  const whose = accountId === undefined ? {} : { account: accountId };
  return await tx.nativeUpdate(ReviewLink, { site: siteId, ...whose, endedAt: null }, { endedAt: now });
}

/** A person with the link comments in the name of the account that created it. */
export type Reviewer = { link: ReviewLink; site: Site; author: Author };

/**
 * The reviewer behind a secret. Writes nothing, since mail scanners open links too. Throws `not_found`, `expired`,
 * `site_archived`, worded for the person who has the link.
 */
export async function reviewerOf(em: EntityManager, { clock }: Pick<Deps, 'clock'>, secret: string): Promise<Reviewer> {
  const known = new RegExp(`^${secretPrefix}_[\\w-]{43}$`).test(secret);
  const link = known ? await em.findOne(ReviewLink, { hash: hashSecret(secret) }) : null;
  if (!link)
    throw errors.not_found('Check that you copied the whole link, or ask the person who sent it for a new one.');
  const person = personOf(link.account.id);
  const site = await findSite(em, person, link.site.id);
  if (site && isClosed(site)) throw errors.site_archived('This website is archived, so it cannot accept comments.');
  const status = statusOf(link, clock.now());
  if (status === 'expired')
    throw errors.expired('This review link has expired. Ask the person who sent it for a new one.');
  if (status === 'ended' || !site)
    throw errors.expired('This review link was closed. Ask the person who sent it for a new one.');
  return { link, site, author: { ...person, kind: roleOf(site, person) } };
}
