/** Pushes that are published at once, because `frontage.toml` of their site says so. */
import { type Actor, actorOf, lockChangeable } from '#api/access.ts';
import { refuseDeployment } from '#db/deployments/acceptance.ts';
import { Deployment } from '#db/deployments/deployment.ts';
import { canonicalUrl } from '#db/domains/canonical-url.ts';
import type { EntityManager } from '#db/orm.ts';
import type { PublishPush } from '#git/accepted-pushes.ts';
import { settingsOfMain } from '#git/settings.ts';
import type { Deps } from '#runtime/deps.ts';
import { AppError } from '#runtime/errors.ts';
import { publish } from './rules.ts';

/**
 * Publishes what is on `main` after a push. A push is not published twice: the deployment has the id that the push gives it. One that cannot be
 * published is a failed version, so that the inbox says so. Where the owner has reached a limit it is published later.
 */
export function publisherOfPushes(deps: Deps): PublishPush {
  return async ({ deploymentId: id, siteId, repository, accountId, viaName }) => {
    if (!deps.repositories || !(await settingsOfMain(deps.repositories, siteId)).publishOnPush) return true;
    const em = deps.em();
    if ((await em.count(Deployment, { id })) > 0) return true;
    const actor: Actor = { ...actorOf(accountId, ''), via: { kind: 'git', name: viaName } };
    const scope = repository === 'content' ? 'posts' : 'site';
    try {
      await publish(em, deps, actor, { id, siteId, scope, noCache: false });
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      if (error.code === 'rate_limited') return false;
      await recordFailure(deps.em(), deps, actor, { id, siteId, scope, error });
    }
    return true;
  };
}

type Failed = { id: string; siteId: string; scope: 'site' | 'posts'; error: AppError };

/** A site that has been archived or blocked since the push has no new version. */
async function recordFailure(em: EntityManager, deps: Deps, actor: Actor, { id, siteId, scope, error }: Failed) {
  await em
    .transactional(async (tx) => {
      const site = await lockChangeable(tx, siteId);
      const { address: siteUrl } = await canonicalUrl(tx, deps.config, site);
      await refuseDeployment(tx, deps, site, { id, siteUrl, kind: scope, createdBy: actor }, error.toBody());
    })
    .catch((other: unknown) => {
      if (!(other instanceof AppError)) throw other;
      deps.log.info({ err: other, siteId }, 'a push to a site that is closed was not published');
    });
}
