/** Deleting an archived site, and restoring it for 30 days. */

import { type Actor, requireSiteNotBlocked } from '#api/access.ts';
import { requireSettledAddress } from '#api/accounts/address-hold.ts';
import { Account } from '#db/accounts/account.ts';
import { HistoryEntry } from '#db/history/history-entry.ts';
import { recordAct } from '#db/history/recording.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import { queueMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import { contentsOfSite, type SiteContents } from '#db/sites/contents.ts';
import { cancelDeletion, startDeletion } from '#db/sites/deletion.ts';
import { type Pending, pendingOfSite } from '#db/sites/pending.ts';
import { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import { includesSite } from '#rules/scopes.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { ownerPage } from '#runtime/owner-pages.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { lossText, pendingText } from './remaining.ts';
import { lockOwnSite } from './rules.ts';

/** Of one site: each is mailed to the owner. Scaled by `FRONTAGE_RATE_SCALE`. */
const deletionsPerHour = 5;

type Confirmed = { confirmed: boolean; discard: boolean };

/**
 * Deletes the site after 30 days, until which its owner, who is e-mailed, can restore it. Deleting it again changes
 * nothing. Throws `owner_only`, `site_not_archived`, `site_archived` where it is blocked, `confirm_required`,
 * `address_change_pending`, `rate_limited`.
 */
export async function deleteSite(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  { confirmed, discard }: Confirmed,
): Promise<Site> {
  return await em.transactional(async (tx) => {
    const site = await lockOwnSite(tx, actor, siteId, 'delete it');
    if (site.deleteAt) return site;
    requireArchived(site);
    requireSiteNotBlocked(site, 'be deleted');
    await requireSettledAddress(tx, deps.clock, actor.accountId, 'delete its sites');
    const pending = await pendingOfSite(tx, deps.clock.now(), site.id);
    const isPending = Object.values(pending).some((count) => count > 0);
    if (!confirmed || (isPending && !discard))
      throw unconfirmed(site, pending, await contentsOfSite(tx, deps.clock.now(), site.id));
    await requireSeldomDeleted(tx, deps, site);
    recordAct(tx, deps.clock, actor, 'site.deleted', { site });
    await startDeletion(tx, deps.clock, site);
    await mailOwner(tx, deps, site);
    return site;
  });
}

/** Before the owner is asked to allow it. Throws `site_not_archived` for a site that the token may read. */
export async function refuseDeletion(em: EntityManager, { accountId, scope }: Actor, siteId: string): Promise<void> {
  const site = includesSite(scope, siteId) ? await em.findOne(Site, { id: siteId, account: accountId }) : null;
  if (site) requireArchived(site);
}

function requireArchived(site: Site): void {
  if (site.status === 'archived') return;
  throw errors.site_not_archived(`The site ${site.name} is online. Only an archived site can be deleted.`, {
    nextAction: `Call ${call('site.archive', { id: site })} first.`,
  });
}

/** Ends the deletion: the site is archived as before. Without one, nothing changes. Throws `owner_only`. */
export async function restoreSite(em: EntityManager, { clock }: Deps, actor: Actor, siteId: string): Promise<Site> {
  return await em.transactional(async (tx) => {
    const site = await lockOwnSite(tx, actor, siteId, 'restore it');
    if (!site.deleteAt) return site;
    cancelDeletion(tx, clock, site);
    recordAct(tx, clock, actor, 'site.restored', { site });
    return site;
  });
}

/** So that a program that deletes and restores a site in turn does not flood its owner’s mailbox. */
async function requireSeldomDeleted(tx: EntityManager, { clock, config }: Deps, site: Site): Promise<void> {
  await requireBelowHourlyLimit(clock, {
    limit: Math.ceil(deletionsPerHour * config.rateScale),
    message: `The site ${site.name} has been deleted and restored too often in the last hour.`,
    async createdAt(since, offset) {
      const deletions = { siteId: site.id, action: 'site.deleted', at: { $gt: since } } as const;
      return (await tx.find(HistoryEntry, deletions, { orderBy: { at: 'desc' }, offset, limit: 1 }))[0]?.at;
    },
  });
}

function unconfirmed({ id, name }: Site, pending: Pending, contents: SiteContents) {
  const text = pendingText(pending);
  const loss = lossText(contents);
  if (text === '') {
    return errors.confirm_required(`This deletes the site ${name} with ${loss}`, {
      nextAction: `To confirm, call ${call('site.delete', { id, confirm: true })}. To keep a copy, call ${call('site.export', { id })} first.`,
    });
  }
  return errors.confirm_required(
    `The site ${name} still has ${text}. Visitors are not told that the site is deleted. It is deleted with ${loss}`,
    {
      nextAction: `Cancel the bookings (${call('booking.list', { id })}) and wait for the refunds, or call ${call('site.delete', { id, confirm: true, discard: true })}: open payments then expire, and bookings and refunds continue without the site. To keep a copy, call ${call('site.export', { id })} first.`,
    },
  );
}

async function mailOwner(tx: EntityManager, deps: Deps, { id, name, account, deleteAt }: Site): Promise<void> {
  const { config } = deps;
  if (!config.mail || !deleteAt) return;
  const { email: to } = await tx.findOneOrFail(Account, { id: account.id });
  const link = ownerPage(config, `/account/sites/${id}/restore`);
  const data = { hostname: siteHostname(config, name), deleteAt: deleteAt.toISOString(), link };
  queueMail(tx, deps, { kind: 'site-deletion', to, data, account: account.id });
}
