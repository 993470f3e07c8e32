/** Deployments that are accepted without a repository, and without a limit per hour. */
import { type AcceptanceDeps, acceptPublish } from '#db/deployments/acceptance.ts';
import type { Deployment } from '#db/deployments/deployment.ts';
import type { EntityManager } from '#db/orm.ts';
import { acceptDraft } from '#db/previews/transitions.ts';
import { lockSite } from '#db/sites/transitions.ts';
import { newId } from '#runtime/ids.ts';
import { withLimits } from '#test/api/fixture.ts';

type TestDeps = AcceptanceDeps & { em(): EntityManager };
type Wanted = { siteId: string; createdBy: string; kind?: 'site' | 'posts'; contentCommit?: string };

const commits = { sourceCommit: 'a'.repeat(40), contentCommit: null, siteUrl: 'http://h' };

const unlimitedHours = { publishes_per_hour: 1e6, previews_per_hour: 1e6, build_seconds_per_hour: 1e6 };

function unlimited({ clock, config }: TestDeps): AcceptanceDeps {
  return { clock, config: withLimits(config, unlimitedHours) };
}

/** A publish that is queued. */
export async function acceptedPublish(
  deps: TestDeps,
  { siteId, createdBy, kind = 'site', contentCommit }: Wanted,
): Promise<Deployment> {
  const publish = {
    ...commits,
    contentCommit: contentCommit ?? null,
    id: newId('dep'),
    kind,
    createdBy: { accountId: createdBy },
  };
  return await deps
    .em()
    .transactional(async (tx) => acceptPublish(tx, unlimited(deps), await lockSite(tx, siteId), publish));
}

/** A draft that is queued. */
export async function acceptedDraft(
  deps: TestDeps,
  { siteId, createdBy, slot }: Wanted & { slot: number },
): Promise<Deployment> {
  const draft = { ...commits, id: newId('dep'), slot, createdBy: { accountId: createdBy } };
  return await deps
    .em()
    .transactional(async (tx) => acceptDraft(tx, unlimited(deps), await lockSite(tx, siteId), draft));
}
