/** Git passwords on the account's page of agents, and the page that revokes one. */

import type { Loaded } from '@mikro-orm/core';
import type { Person } from '#api/access.ts';
import { askedAction } from '#api/console/actions.ts';
import { type Console, frameOf } from '#api/console/frame.ts';
import { GitCredential } from '#db/auth/git-credential.ts';
import type { EntityManager } from '#db/orm.ts';
import type { Deps } from '#runtime/deps.ts';
import { siteHostname } from '#runtime/site-addresses.ts';
import { gitPasswordRevocationPage } from '#web/console/agent.ts';
import type { GitPassword, GitPasswordsShown } from '#web/pages/access-lists.ts';
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
      const found = await loadCredential(em, deps, actor, params.id);
      await em.populate(found, ['site', 'account']);
      return gitPasswordRevocationPage(frameOf(request, reply, deps, refused), shownOf(deps, actor, found as Whole));
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
  return { passwords: found.map((one) => shownOf(deps, person, one)), more: count - found.length };
}

type Whole = Loaded<GitCredential, 'site' | 'account'>;

function shownOf({ config }: Pick<Deps, 'config'>, { accountId }: Person, credential: Whole): GitPassword {
  const { id, site, username, repository, access, account, makerName = null, createdAt, expiresAt } = credential;
  return {
    ...{ id, username, repository, access, createdAt, expiresAt },
    hostname: siteHostname(config, site.name),
    maker: account.id === accountId ? makerName : account.name,
    lastUsedAt: credential.lastUsedAt ?? null,
  };
}
