/** Maintenance of the sites' repositories. */
import { Context } from '@temporalio/activity';
import { Site } from '#db/sites/site.ts';
import type { Deps } from '#runtime/deps.ts';

export type MaintenanceResult = { repacked: number; removed: number; failed: number };

/** Maintains every repository of this machine, one after another. A failure does not stop the others. */
export async function maintainAll(
  { em, log, repositories }: Pick<Deps, 'em' | 'log' | 'repositories'>,
  heartbeat: (siteId: string) => void,
): Promise<MaintenanceResult> {
  const done = { repacked: 0, removed: 0, failed: 0 };
  if (!repositories) return done;
  for (const siteId of await repositories.siteIds()) {
    heartbeat(siteId);
    try {
      const isKnown = (await em().count(Site, { id: siteId })) > 0;
      if (!isKnown && (await repositories.removeUntouched(siteId))) done.removed += 1;
      for (const repository of ['source', 'content'] as const) {
        if (isKnown && (await repositories.maintain(siteId, repository))) done.repacked += 1;
      }
    } catch (error) {
      done.failed += 1;
      log.error({ err: error, siteId }, 'git maintenance of a repository failed');
    }
  }
  return done;
}

export function maintenanceActivities(deps: Deps) {
  return {
    async maintainRepositories(): Promise<MaintenanceResult> {
      const context = Context.current();
      return await maintainAll(deps, (siteId) => {
        context.cancellationSignal.throwIfAborted();
        context.heartbeat(siteId);
      });
    },
  };
}
