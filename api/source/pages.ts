/** Git passwords on the account page, and its button. */

import type { Person } from '#api/access.ts';
import type { Api } from '#api/api.ts';
import { accountButton } from '#api/console/notices.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import type { GitPasswordsShown } from '#web/pages/access-lists.ts';
import { credentialsOfAll, revokeCredential } from './credentials.ts';

const shownMax = 50;

export function gitPasswordPages(app: Api, deps: Deps): void {
  accountButton(app, deps, {
    path: '/account/git-credentials/:id/revoke',
    options: pageOptions('source.revoke_credential_on_page', 'email_signin'),
    act: ({ em, actor, params }) => revokeCredential(em, deps, actor, params.id),
    to: '/account/agents',
    notice: 'Revoked. The git password works no longer.',
  });
}

/** The credentials of the account's sites and its own ones, for its page. Those that last longest come first. */
export async function gitPasswordsShown(em: EntityManager, deps: Deps, person: Person): Promise<GitPasswordsShown> {
  const [found, count] = await em.findAndCount(GitCredential, credentialsOfAll(person, deps.clock.now()), {
    populate: ['site', 'account'],
    orderBy: { expiresAt: 'desc', id: 'desc' },
    limit: shownMax,
  });
  const passwords = found.map(({ id, site, repository, access, account, makerName, ...times }) => ({
    id,
    hostname: siteHostname(deps.config, site.name),
    repository,
    access,
    maker: account.id === person.accountId ? (makerName ?? null) : account.name,
    createdAt: times.createdAt,
    lastUsedAt: times.lastUsedAt ?? null,
    expiresAt: times.expiresAt,
  }));
  return { passwords, more: count - found.length };
}
