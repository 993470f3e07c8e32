/** Git passwords on the account's page of agents, and the page that revokes one. */

import type { Person } from '#api/access.ts';
import { askedAction } from '#api/console/actions.ts';
import { type Console, frameOf } from '#api/console/frame.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { gitPasswordRevocationPage } from '#web/console/agent.ts';
import type { GitPasswordsShown } from '#web/pages/access-lists.ts';
import { credentialsOfAll, loadCredential } from './credentials.ts';

const shownMax = 50;

export function gitPasswordPages(console: Console): void {
  const { deps } = console;
  askedAction(console, {
    page: 'git_password_revoke',
    path: '/account/git-credentials/:id/revoke',
    operation: 'source.revoke_credential',
    async ask(request, reply, refused) {
      const { em, actor, params } = request;
      const { id, site } = await loadCredential(em, deps, actor, params.id);
      const hostname = siteHostname(deps.config, (site as Site).name);
      return gitPasswordRevocationPage(frameOf(request, reply, deps, refused), { id, hostname });
    },
    input: ({ params: { id } }) => ({ id }),
    done: () => ({ to: '/account/agents', notice: 'Revoked. The git password no longer works.' }),
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
