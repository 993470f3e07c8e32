/** Git credentials: access to one repository, to fetch or to push, until they expire. */

import { type Actor, loadSite, requireActive } from '#api/access.ts';
import { hashSecret } from '#api/secrets.ts';
import { lifetimeWithin, madeWith } from '#api/tokens/expiry.ts';
import { Account } from '#db/accounts/account.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import type { EntityManager } from '#db/orm.ts';
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
  expiresInSeconds: number | undefined;
};

/** Creates a user name and stores the password's hash. Throws `invalid_expiry`, and `site_archived` for write access to an archived site. */
export async function createCredential(
  em: EntityManager,
  { clock }: Pick<Deps, 'clock'>,
  actor: Actor,
  siteId: string,
  { id, password, repository, access, expiresInSeconds }: NewCredential,
): Promise<GitCredential> {
  const site = await loadSite(em, actor, siteId);
  if (access === 'write') requireActive(site);
  const now = clock.now();
  const lifetime = { seconds: expiresInSeconds, usual: daySeconds };
  const expiresAt = await lifetimeWithin(em, now, actor, lifetime);
  const credential = {
    id,
    site,
    account: em.getReference(Account, actor.accountId),
    madeBy: actor.tokenId,
    repository,
    access,
    // As unguessable as the id, and unique.
    username: id.replace('cred_', 'git-'),
    hash: hashSecret(password),
    createdAt: now,
    expiresAt,
  };
  return await madeWith(em, actor, (tx) => tx.create(GitCredential, credential));
}

/** A credential of the site, created by this account. Throws `not_found`. */
export async function loadCredential(
  em: EntityManager,
  actor: Actor,
  siteId: string,
  id: string,
): Promise<GitCredential> {
  const site = await loadSite(em, actor, siteId);
  const found = isId('cred', id)
    ? await em.findOne(GitCredential, { id, site, account: actor.accountId }, { populate: ['site'] })
    : null;
  if (!found) throw errors.not_found('This account has not created a git credential with this id.');
  return found;
}
