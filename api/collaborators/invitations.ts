/** The owner's side of invitations: creating, reading, withdrawing them. */

import { LockMode, UniqueConstraintViolationException } from '@mikro-orm/core';
import { type Actor, loadSite, requireActive, requireOwner } from '#api/access.ts';
import { readEmail } from '#api/email-addresses.ts';
import { actOn, closeInvitation, wholly } from '#api/invitations/rules.ts';
import type { WholeInvitation } from '#api/invitations/schemas.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { Account } from '#db/accounts/account.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import { recordAct } from '#db/history/recording.ts';
import { requireBelowHourlyLimit } from '#db/hourly-limit.ts';
import { queueFirstContact, queueNotice } from '#db/mail/limits.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { startWorkflow } from '#db/workflow-messages.ts';
import { call } from '#rules/calls/calls.ts';
import { invitationStatusAt } from '#rules/states.ts';
import { dayMs } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import { ownerPage } from '#runtime/owner-pages.ts';
import { siteHostname } from '#runtime/site-addresses.ts';

const days = 14;
/** By one owner, withdrawn ones included: each starts a workflow. Scaled by `FRONTAGE_RATE_SCALE`. */
const perHour = 120;

/**
 * Invites the address, which need not have an account yet, and e-mails it a link, unless a limit of e-mails is reached.
 * E-mails the owner about what a token does: the invited person keeps access when the token is revoked.
 * Throws `owner_only`, `site_archived`, `invalid_email`, `invitation_accepted`, `already_invited`, `plan_limit`, `rate_limited`.
 */
export async function inviteCollaborator(
  em: EntityManager,
  deps: Deps,
  actor: Actor,
  siteId: string,
  input: { id: string; email: string },
): Promise<WholeInvitation> {
  const seen = await loadOwnSite(em, actor, siteId);
  requireActive(seen);
  const email = readEmail(input.email);
  return await em
    .transactional(async (tx) => {
      // Locks the site before the account, as a publish does; the other order could deadlock.
      const site = await lockSite(tx, seen.id);
      requireActive(site);
      await lockAccount(tx, site.account.id);
      await requireOutside(tx, site, email);
      await requireFreeSlot(tx, deps.clock.now(), site, email);
      await requirePlace(tx, deps, site);
      await requireBelowLimit(tx, deps, site);
      recordAct(tx, deps.clock, actor, 'invitation.created', { site, subject: { id: input.id, name: email } });
      const invitation = await writeInvitation(tx, deps, site, { id: input.id, email });
      if (actor.via?.kind === 'token') await mailOwner(tx, deps, invitation, actor.via.name);
      return invitation;
    })
    .catch((error) => {
      if (!(error instanceof UniqueConstraintViolationException)) throw error;
      throw alreadyInvited(seen, email, 'open');
    });
}

async function requireBelowLimit(tx: EntityManager, { clock, config }: Deps, { account }: Site): Promise<void> {
  await requireBelowHourlyLimit(clock, {
    limit: Math.ceil(perHour * config.rateScale),
    message: 'The hourly limit for invitations has been reached.',
    async createdAt(since, offset) {
      const created = { site: { account: account.id }, createdAt: { $gt: since } };
      const newest = { orderBy: { createdAt: 'desc' }, offset, limit: 1 } as const;
      return (await tx.find(Invitation, created, newest))[0]?.createdAt;
    },
  });
}

async function writeInvitation(
  tx: EntityManager,
  deps: Deps,
  site: Site,
  { id, email }: { id: string; email: string },
): Promise<WholeInvitation> {
  const now = deps.clock.now();
  const hostname = siteHostname(deps.config, site.name);
  const link = `${deps.config.baseUrl}/invitations/${id}`;
  const { name, email: address } = await tx.findOneOrFail(Account, site.account.id);
  const mail = await queueFirstContact(tx, deps, {
    kind: 'invitation',
    to: email,
    data: { hostname, link, days, inviter: { name, email: address } },
    site,
  });
  const about = { summary: `Invitation to ${hostname}`, site: site.id, account: site.account.id, hostname };
  startWorkflow(tx, deps.clock, 'inviteCollaborator', { invitationId: id }, about);
  return tx.create(Invitation, {
    id,
    site,
    email,
    status: 'open',
    mail,
    createdAt: now,
    expiresAt: new Date(now.getTime() + days * dayMs),
  }) as WholeInvitation;
}

async function mailOwner(
  tx: EntityManager,
  deps: Deps,
  { id, email, site }: WholeInvitation,
  token: string | null,
): Promise<void> {
  const { config } = deps;
  const owner = await tx.findOneOrFail(Account, site.account.id);
  const link = ownerPage(config, `/account/invitations/${id}`);
  const data = { hostname: siteHostname(config, site.name), agent: token ?? '', owner: owner.email, email, link };
  await queueNotice(tx, deps, { kind: 'collaborator-invited', to: owner.email, data, site });
}

/** The invitations in a site's list. Their addresses cannot be invited again. */
export const holdingSlots = (site: Site) => ({ site: site.id, status: { $in: ['open', 'expired'] as const } });

/** The site, if the caller owns it. Throws `not_found`, `owner_only`. */
export async function loadOwnSite(em: EntityManager, actor: Actor, siteId: string): Promise<Site> {
  const site = await loadSite(em, actor, siteId);
  requireOwner(site, actor, 'manage its invitations');
  return site;
}

/** An invitation of the caller's own site, with any status. Throws `not_found`, `owner_only`. */
export async function loadSiteInvitation(
  em: EntityManager,
  actor: Actor,
  siteId: string,
  id: string,
): Promise<WholeInvitation> {
  const site = await loadOwnSite(em, actor, siteId);
  const found = isId('inv', id) ? await em.findOne(Invitation, { id, site: site.id }, wholly) : null;
  if (found) return found;
  throw errors.not_found('This site has no invitation with this id.', {
    nextAction: `Call ${call('collaborator.invitations', { id: site })} to list the site’s invitations.`,
  });
}

/**
 * Withdraws an open or expired invitation, so that its address can be invited again. If its e-mail is still queued, it
 * is not sent. Idempotent. Throws `invitation_accepted`.
 */
export async function withdrawInvitation(
  em: EntityManager,
  { clock }: Deps,
  actor: Actor,
  siteId: string,
  id: string,
): Promise<WholeInvitation> {
  return await em.transactional(async (tx) => {
    const found = await loadSiteInvitation(tx, actor, siteId, id);
    await tx.lock(found, LockMode.PESSIMISTIC_WRITE);
    await tx.refresh(found, wholly);
    if (found.status === 'accepted') throw accepted(siteId, found.account?.id);
    if (found.status === 'withdrawn') return found;
    recordAct(tx, clock, actor, 'invitation.withdrawn', actOn(found));
    await closeInvitation(tx, clock, found, {});
    return found;
  });
}

/** Throws `invitation_accepted` for an address that already has access to the site. */
async function requireOutside(tx: EntityManager, site: Site, email: string): Promise<void> {
  const account = await tx.findOne(Account, { email });
  if (!account) return;
  if (account.id === site.account.id) {
    throw errors.invitation_accepted(`${email} already owns ${site.name} and needs no invitation.`);
  }
  if ((await tx.count(Collaborator, { site: site.id, account: account.id })) > 0) throw accepted(site.id, account.id);
}

async function requireFreeSlot(tx: EntityManager, now: Date, site: Site, email: string): Promise<void> {
  const existing = await tx.findOne(Invitation, { ...holdingSlots(site), email });
  if (existing) throw alreadyInvited(site, email, invitationStatusAt(existing, now), existing.id);
}

/** An open invitation counts as a collaborator, because it may become one. */
async function requirePlace(tx: EntityManager, deps: Deps, site: Site): Promise<void> {
  const open = { site: site.id, status: 'open', expiresAt: { $gt: deps.clock.now() } } as const;
  await countWithinLimit(tx, deps, {
    limit: 'collaborators_per_site',
    accountId: site.account.id,
    count: async () => (await tx.count(Collaborator, { site: site.id })) + (await tx.count(Invitation, open)),
    what: 'collaborators and open invitations per site',
    holder: 'this site',
    nextAction: `Remove a collaborator with ${call('collaborator.remove', { id: site })}, or withdraw an invitation.`,
  });
}

function accepted(siteId: string, accountId: string | undefined): AppError {
  return errors.invitation_accepted('This address has already accepted an invitation to the site.', {
    nextAction: `To revoke its access, call ${call('collaborator.remove', { id: siteId, account_id: accountId })}.`,
  });
}

function alreadyInvited(site: Site, email: string, status: string, id = '{invitation_id}'): AppError {
  const what =
    status === 'expired'
      ? `an expired invitation to ${site.name} that has not been withdrawn`
      : `an open invitation to ${site.name}`;
  return errors.already_invited(`${email} already has ${what}.`, {
    nextAction: `To invite this address again, first withdraw the invitation with ${call('collaborator.withdraw', { id: site, invitation_id: id })}.`,
  });
}
