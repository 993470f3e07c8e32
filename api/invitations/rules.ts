/** The recipient's side of invitations: reading and accepting them. */

import { LockMode } from '@mikro-orm/core';
import type { Person } from '#api/access.ts';
import { countWithinLimit } from '#api/plan-limits.ts';
import { Account } from '#db/accounts/account.ts';
import { lockAccount } from '#db/accounts/lock.ts';
import { Collaborator } from '#db/collaborators/collaborator.ts';
import { Invitation } from '#db/collaborators/invitation.ts';
import { signalInvitation } from '#db/collaborators/invitation-expiry.ts';
import { recordAct } from '#db/history/recording.ts';
import { notifyInbox } from '#db/inbox/news.ts';
import { settleMail } from '#db/mail/queue.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { call } from '#rules/calls/calls.ts';
import { invitationStatusAt } from '#rules/states.ts';
import type { Deps } from '#runtime/deps.ts';
import { type AppError, errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';
import type { WholeInvitation } from './schemas.ts';

export type { WholeInvitation };

export const wholly = { populate: ['site.account', 'mail'] } as const;

/** The condition of a query for open invitations to the account's address. */
export async function addressedTo(em: EntityManager, clock: Deps['clock'], { accountId }: Person) {
  const { email } = await em.findOneOrFail(Account, accountId);
  return { email, status: 'open' as const, expiresAt: { $gt: clock.now() }, site: { deleteAt: null, purgedAt: null } };
}

/**
 * An invitation to the account's present address that is neither withdrawn by the owner nor accepted by another account
 * that had the address before. Those to a site under deletion wait until it is restored. Throws `not_found`, and
 * `invalid_invitation` for a link.
 */
export async function loadInvitation(em: EntityManager, person: Person, id: string): Promise<WholeInvitation> {
  if (/[:/]/.test(id)) {
    throw errors.invalid_invitation('This is an invitation link. Send the invitation’s id instead.', {
      nextAction: `Call ${call('invitation.list')} and use the \`id\` of the invitation.`,
    });
  }
  const { email } = await em.findOneOrFail(Account, person.accountId);
  const found = isId('inv', id) ? await em.findOne(Invitation, { id, email }, wholly) : null;
  const isWithdrawn = found?.status === 'withdrawn' && !found.declinedAt;
  if (!found || isWithdrawn || (found.account && found.account.id !== person.accountId)) {
    throw noSuchInvitation();
  }
  requirePresent(found.site);
  return found;
}

/**
 * Makes the account a collaborator of the site. An account that already is one, and was invited again at another
 * address, stays one. If the invitation is withdrawn at the same time, the first to lock its row wins. Throws
 * `not_found`, `invalid_invitation`, `invitation_accepted`, `expired`, `plan_limit`.
 */
export async function acceptInvitation(
  em: EntityManager,
  deps: Deps,
  person: Person,
  id: string,
): Promise<WholeInvitation> {
  return await em.transactional(async (tx) => {
    const found = await loadInvitation(tx, person, id);
    // Locks the site before the account, as a publish does; the other order could deadlock.
    requirePresent(await lockSite(tx, found.site.id));
    await lockAccount(tx, found.site.account.id);
    await tx.lock(found, LockMode.PESSIMISTIC_WRITE);
    await tx.refresh(found, wholly);
    requireOpen(found, deps.clock.now());
    requireNotOwner(found, person);
    const account = tx.getReference(Account, person.accountId);
    const isIn = (await tx.count(Collaborator, { site: found.site, account })) > 0;
    if (!isIn) {
      await requirePlace(tx, deps, found);
      tx.create(Collaborator, { site: found.site, account, since: deps.clock.now() });
    }
    found.status = 'accepted';
    found.account = account;
    found.answeredAt = deps.clock.now();
    signalInvitation(tx, deps.clock, found.id);
    await notifyInbox(tx, found.site.account.id);
    recordAct(tx, deps.clock, person, 'invitation.accepted', actOn(found));
    return found;
  });
}

/**
 * Declines an open or expired invitation, which frees its address. If its e-mail is still queued, it is not sent.
 * Idempotent. Throws `not_found`, `invalid_invitation`, `invitation_accepted`.
 */
export async function declineInvitation(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  person: Person,
  id: string,
): Promise<WholeInvitation> {
  return await em.transactional(async (tx) => {
    const found = await loadInvitation(tx, person, id);
    await tx.lock(found, LockMode.PESSIMISTIC_WRITE);
    await tx.refresh(found, wholly);
    if (found.declinedAt) return found;
    if (found.status === 'withdrawn') throw noSuchInvitation();
    if (found.status === 'accepted') {
      throw errors.invitation_accepted('This invitation has already been accepted.', {
        nextAction: `To leave the site, call ${call('collaborator.leave', { id: found.site })}.`,
      });
    }
    recordAct(tx, clock, person, 'invitation.declined', actOn(found));
    await closeInvitation(tx, clock, found, { declinedAt: clock.now() });
    return found;
  });
}

/** The invitation as the subject of an act. */
export const actOn = ({ id, email, site }: WholeInvitation) => ({ site, subject: { id, name: email } });

/** Withdraws or declines the invitation, whose row is locked. If its e-mail is still queued, it is not sent. */
export async function closeInvitation(
  tx: EntityManager,
  clock: Deps['clock'],
  invitation: WholeInvitation,
  { declinedAt }: { declinedAt?: Date },
): Promise<void> {
  Object.assign(invitation, { status: 'withdrawn', answeredAt: clock.now(), declinedAt: declinedAt ?? null });
  signalInvitation(tx, clock, invitation.id);
  await tx.flush();
  const failure = declinedAt ? 'declined before it was sent' : 'withdrawn before it was sent';
  await settleMail(tx, clock, invitation.mail.id, { status: 'failed', failure });
  await tx.refresh(invitation.mail);
}

/** Only the owner sees a site under deletion. */
function requirePresent({ deleteAt, purgedAt }: Site): void {
  if (deleteAt || purgedAt) throw noSuchInvitation();
}

function requireOpen(invitation: Invitation, now: Date): void {
  const status = invitationStatusAt(invitation, now);
  if (status === 'withdrawn' || status === 'declined') throw noSuchInvitation();
  if (status === 'accepted') {
    throw errors.invitation_accepted('This invitation has already been accepted.', {
      nextAction: `Call ${call('site.list')} to find the site.`,
    });
  }
  if (status === 'expired') {
    throw errors.expired('This invitation has expired.', {
      nextAction: 'Ask the site’s owner to withdraw the invitation and invite this address again.',
    });
  }
}

/** The owner may have changed their address to the invited one. */
function requireNotOwner({ id, site }: Invitation, { accountId }: Person): void {
  if (site.account.id !== accountId) return;
  throw errors.invitation_accepted(`This account owns ${site.name} and does not need an invitation.`, {
    nextAction: `Withdraw the invitation with ${call('collaborator.withdraw', { id: site, invitation_id: id })}.`,
  });
}

/** The plan may have been downgraded since the invitation. */
async function requirePlace(tx: EntityManager, deps: Deps, { site }: Invitation): Promise<void> {
  await countWithinLimit(tx, deps, {
    limit: 'collaborators_per_site',
    accountId: site.account.id,
    by: 'collaborator',
    count: () => tx.count(Collaborator, { site: site.id }),
    what: 'collaborators per site',
    holder: 'this site',
    nextAction: 'Ask the site’s owner to remove a collaborator.',
  });
}

function noSuchInvitation(): AppError {
  return errors.not_found('This account has no invitation with this id.', {
    nextAction: `Call ${call('invitation.list')} to list the open invitations.`,
  });
}
