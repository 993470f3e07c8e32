/** Git credentials: access to one repository, to fetch or to push, until they expire or are revoked. */

import { type Actor, findSite, loadSite, makerOf, type Person, requireActive, roleOf } from '#api/access.ts';
import { hashSecret } from '#api/secrets.ts';
import { lifetimeWithin, madeWith } from '#api/tokens/expiry.ts';
import { Account } from '#db/accounts/account.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import { recordAct } from '#db/history/recording.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import { call } from '#rules/calls/calls.ts';
import type { GitAccess, Repository } from '#rules/states.ts';
import { daySeconds } from '#rules/time.ts';
import type { Deps } from '#runtime/deps.ts';
import { errors } from '#runtime/errors.ts';
import { isId } from '#runtime/ids.ts';

export type NewCredential = {
  id: string;
  password: string;
  repository: Repository;
  access: GitAccess;
  publish?: boolean;
  expiresInSeconds: number | undefined;
};

/** Creates a user name and stores the password's hash. Throws `invalid_expiry`, and `site_archived` for write access to an archived site. */
export async function createCredential(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Actor,
  siteId: string,
  { id, password, repository, access, publish = false, expiresInSeconds }: NewCredential,
): Promise<GitCredential> {
  const site = await loadSite(em, actor, siteId, { access });
  if (access === 'write') requireActive(site);
  const now = clock.now();
  const lifetime = { seconds: expiresInSeconds, usual: daySeconds };
  const expiresAt = await lifetimeWithin(em, now, actor, lifetime);
  const credential = {
    id,
    site,
    account: em.getReference(Account, actor.accountId),
    madeBy: makerOf(actor),
    repository,
    access,
    publish,
    // As unguessable as the id, and unique.
    username: id.replace('cred_', 'git-'),
    hash: hashSecret(password),
    createdAt: now,
    expiresAt,
  };
  await madeWith(em, actor, (tx) => {
    const detail = { repository, access, publish, expires_at: expiresAt };
    recordAct(tx, clock, actor, 'git_credential.created', { site, subject: { id, name: credential.username }, detail });
    return tx.create(GitCredential, credential);
  });
  return await em.findOneOrFail(GitCredential, { id }, { refresh: true });
}

/** The condition of a query for the site's credentials that the caller may see: the owner all, others their own. */
export function credentialsOf(site: Site, person: Person, now: Date) {
  const all = { site: site.id, expiresAt: { $gt: now } };
  return roleOf(site, person) === 'owner' ? all : { ...all, account: person.accountId };
}

/** The condition for those of all sites that the account owns, and its own of other sites. */
export function credentialsOfAll({ accountId }: Person, now: Date) {
  return { expiresAt: { $gt: now }, $or: [{ site: { account: accountId } }, { account: accountId }] };
}

/** A credential that the caller may see. Throws `not_found`. */
export async function loadCredential(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  person: Person,
  id: string,
): Promise<GitCredential> {
  const found = isId('cred', id) ? await em.findOne(GitCredential, { id }) : null;
  const site = found && (await findSite(em, person, found.site.id));
  const visible =
    site && (await em.findOne(GitCredential, { $and: [{ id }, credentialsOf(site, person, clock.now())] }));
  if (visible) return visible;
  throw errors.not_found('No git credential with this id is accessible to this account.', {
    nextAction: `Call ${call('source.credentials')} to list a site’s git credentials.`,
  });
}

/** Revokes a credential at once. Waits for pushes that git has accepted; those that it has not are refused. Throws `not_found`. */
export async function revokeCredential(
  em: EntityManager,
  deps: Pick<Deps, 'clock'>,
  person: Person,
  id: string,
): Promise<GitCredential> {
  const credential = await loadCredential(em, deps, person, id);
  const { username: name } = credential;
  await em.transactional(async (tx) => {
    if ((await tx.nativeDelete(GitCredential, { id })) === 0) return;
    recordAct(tx, deps.clock, person, 'git_credential.revoked', {
      site: credential.site as Site,
      subject: { id, name },
    });
  });
  return credential;
}
